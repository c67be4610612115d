#include "objects/object_file.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/BinaryFormat/ELF.h"
#include "llvm/Object/ELF.h"

#include <algorithm>
#include <tuple>

namespace twinjit::objects {
namespace {

namespace elf = llvm::ELF;
using File = llvm::object::ELFFile<llvm::object::ELF64LE>;
using Header = File::Elf_Shdr;

Failure damaged(llvm::Error error) {
  return Failure{Kind::Load, "cannot read the object code: " + llvm::toString(std::move(error))};
}

/// Reads one object; what it has read is in `object`.
class Reader {
public:
  Reader(const File &file, llvm::ArrayRef<Header> headers) : file(file), headers(headers) {}

  llvm::Error readAll() {
    for (const Header &header : headers)
      if (llvm::Error error = readSection(header))
        return error;
    for (const Header &header : headers)
      if (header.sh_type == elf::SHT_SYMTAB)
        if (llvm::Error error = readSymbols(header))
          return error;
    for (const Header &header : headers)
      if (header.sh_type == elf::SHT_RELA)
        if (llvm::Error error = readRelocations(header))
          return error;
    llvm::stable_sort(object.sections, [](const Section &a, const Section &b) {
      return a.isLoaded() > b.isLoaded();
    });
    return llvm::Error::success();
  }

  ObjectFile object = {};

private:
  static bool isTable(const Header &header) {
    switch (header.sh_type) {
    case elf::SHT_NULL:
    case elf::SHT_SYMTAB:
    case elf::SHT_SYMTAB_SHNDX:
    case elf::SHT_STRTAB:
    case elf::SHT_RELA:
      return true;
    default:
      return false;
    }
  }

  llvm::Error readSection(const Header &header) {
    auto name = file.getSectionName(header);
    if (!name)
      return name.takeError();
    names.push_back(*name);
    if (isTable(header))
      return llvm::Error::success();
    Section section{static_cast<uint16_t>(names.size() - 1),
                    *name,
                    header.sh_type,
                    header.sh_flags,
                    header.sh_addralign,
                    header.sh_size,
                    ""};
    if (header.sh_type != elf::SHT_NOBITS) {
      auto content = file.getSectionContents(header);
      if (!content)
        return content.takeError();
      section.content = llvm::toStringRef(*content);
    }
    object.sections.push_back(std::move(section));
    return llvm::Error::success();
  }

  llvm::Error readSymbols(const Header &header) {
    auto symbols = file.symbols(&header);
    if (!symbols)
      return symbols.takeError();
    auto texts = file.getStringTableForSymtab(header, headers);
    if (!texts)
      return texts.takeError();
    for (const File::Elf_Sym &each : *symbols) {
      auto name = each.getName(*texts);
      if (!name)
        return name.takeError();
      uint16_t place = each.st_shndx;
      bool isSection = each.getType() == elf::STT_SECTION && place < names.size();
      object.symbols.push_back({isSection ? names[place] : *name, each.getType(), each.getBinding(),
                                each.getVisibility(), place, each.st_value, each.st_size});
    }
    return llvm::Error::success();
  }

  llvm::Error readRelocations(const Header &header) {
    auto relocations = file.relas(header);
    if (!relocations)
      return relocations.takeError();
    auto section = llvm::find_if(object.sections,
                                 [&](const Section &each) { return each.place == header.sh_info; });
    if (section == object.sections.end())
      return llvm::createStringError("relocations of a section that is not there");
    for (const File::Elf_Rela &each : *relocations) {
      uint32_t symbol = each.getSymbol(/*isMips64EL=*/false);
      if (symbol >= object.symbols.size())
        return llvm::createStringError("a relocation to a symbol that is not there");
      section->relocations.push_back({each.r_offset, each.getType(/*isMips64EL=*/false),
                                      object.symbols[symbol].name, each.r_addend});
    }
    llvm::stable_sort(section->relocations,
                      [](const Relocation &a, const Relocation &b) { return a.offset < b.offset; });
    return llvm::Error::success();
  }

  const File &file;
  llvm::ArrayRef<Header> headers;
  std::vector<llvm::StringRef> names; // of all sections of the file
};

} // namespace

bool Symbol::operator==(const Symbol &other) const {
  auto fields = [](const Symbol &symbol) {
    return std::tie(symbol.name, symbol.kind, symbol.binding, symbol.visibility, symbol.place,
                    symbol.value, symbol.size);
  };
  return fields(*this) == fields(other);
}

bool Relocation::operator==(const Relocation &other) const {
  return std::tie(offset, type, symbol, addend) ==
         std::tie(other.offset, other.type, other.symbol, other.addend);
}

bool Section::isLoaded() const { return flags & elf::SHF_ALLOC; }

Outcome<ObjectFile> ObjectFile::read(llvm::StringRef bytes) {
  if (bytes.size() < elf::EI_NIDENT || !bytes.starts_with(llvm::StringRef(elf::ElfMagic, 4)) ||
      bytes[elf::EI_CLASS] != elf::ELFCLASS64 || bytes[elf::EI_DATA] != elf::ELFDATA2LSB)
    return Failure{Kind::Load, "cannot read the object code: it is no ELF file of 64 bits, the "
                               "lowest byte first"};
  auto file = File::create(bytes);
  if (!file)
    return damaged(file.takeError());
  auto headers = file->sections();
  if (!headers)
    return damaged(headers.takeError());
  Reader reader(*file, *headers);
  if (llvm::Error error = reader.readAll())
    return damaged(std::move(error));
  reader.object.machine = file->getHeader().e_machine;
  reader.object.flags = file->getHeader().e_flags;
  return std::move(reader.object);
}

const Symbol *ObjectFile::functionAt(const Section &section, uint64_t offset) const {
  auto found = llvm::find_if(symbols, [&](const Symbol &symbol) {
    return symbol.kind == elf::STT_FUNC && symbol.place == section.place &&
           symbol.value <= offset && offset - symbol.value < symbol.size;
  });
  return found == symbols.end() ? nullptr : &*found;
}

const Section *ObjectFile::section(llvm::StringRef name) const {
  auto found =
      llvm::find_if(sections, [&](const Section &section) { return section.name == name; });
  return found == sections.end() ? nullptr : &*found;
}

const Symbol *ObjectFile::function(const Section &section, llvm::StringRef name) const {
  auto found = llvm::find_if(symbols, [&](const Symbol &symbol) {
    return symbol.kind == elf::STT_FUNC && symbol.place == section.place && symbol.name == name;
  });
  return found == symbols.end() ? nullptr : &*found;
}

std::string ObjectFile::describe(const Relocation &relocation) const {
  llvm::StringRef type = llvm::object::getELFRelocationTypeName(machine, relocation.type);
  std::string text = (type + " " + relocation.symbol).str();
  uint64_t addend = relocation.addend;
  if (relocation.addend > 0)
    text += "+0x" + llvm::utohexstr(addend, /*LowerCase=*/true);
  else if (relocation.addend < 0)
    text += "-0x" + llvm::utohexstr(0 - addend, /*LowerCase=*/true);
  return text;
}

} // namespace twinjit::objects
