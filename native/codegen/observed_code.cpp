#include "codegen/observed_code.h"

#include "common/symbols.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/BinaryFormat/ELF.h"
#include "llvm/ExecutionEngine/JITLink/JITLink.h"

#include <algorithm>
#include <cstring>

namespace twinjit {

namespace jl = llvm::jitlink;
namespace elf = llvm::ELF;

ObservedCode::ObservedCode(jl::LinkGraph &graph) {
  for (jl::Symbol *symbol : graph.defined_symbols())
    if (symbol->hasName() && symbol->isCallable() && symbol->getSize())
      functions.push_back({programName(*symbol->getName()).str(), symbol->getAddress().getValue(),
                           symbol->getSize()});
  std::sort(functions.begin(), functions.end(), [](const auto &a, const auto &b) {
    return std::tie(a.address, a.name) < std::tie(b.address, b.name);
  });
  for (jl::Section &section : graph.sections())
    if (!section.blocks().empty())
      sections[section.getName()] = jl::SectionRange(section).getStart().getValue();
}

namespace {

/// The tables of an ELF file that is being changed.
class ElfTables {
public:
  /// Whether this is a file that the other functions can work on.
  bool read(std::string &file) {
    bytes = {file.data(), file.size()};
    llvm::MutableArrayRef<elf::Elf64_Ehdr> header = table<elf::Elf64_Ehdr>(0, 1);
    if (header.empty() || !header[0].checkMagic() || header[0].getFileClass() != elf::ELFCLASS64 ||
        header[0].getDataEncoding() != elf::ELFDATA2LSB)
      return false;
    sections = table<elf::Elf64_Shdr>(header[0].e_shoff, header[0].e_shnum);
    if (header[0].e_shstrndx >= sections.size())
      return false;
    names = strings(sections[header[0].e_shstrndx]);
    return true;
  }

  /// `count` entries at an offset; none where they do not lie in the file.
  template <typename T> llvm::MutableArrayRef<T> table(uint64_t offset, uint64_t count) {
    if (offset > bytes.size() || count > (bytes.size() - offset) / sizeof(T) ||
        offset % alignof(T) != 0)
      return {};
    return {reinterpret_cast<T *>(bytes.data() + offset), static_cast<size_t>(count)};
  }

  llvm::StringRef strings(const elf::Elf64_Shdr &section) {
    auto content = table<char>(section.sh_offset, section.sh_size);
    return {content.data(), content.size()};
  }

  static llvm::StringRef name(llvm::StringRef strings, uint32_t offset) {
    return strings.substr(offset).take_until([](char c) { return c == '\0'; });
  }

  llvm::MutableArrayRef<elf::Elf64_Shdr> sections;
  llvm::StringRef names; // of sections

private:
  llvm::MutableArrayRef<char> bytes;
};

/// Of sections that share a name, which one went where cannot be told.
void placeSections(ElfTables &tables, const llvm::StringMap<uint64_t> &addresses) {
  llvm::StringMap<unsigned> count;
  for (const elf::Elf64_Shdr &section : tables.sections)
    ++count[ElfTables::name(tables.names, section.sh_name)];
  for (elf::Elf64_Shdr &section : tables.sections) {
    llvm::StringRef name = ElfTables::name(tables.names, section.sh_name);
    auto found = addresses.find(name);
    if (found != addresses.end() && count[name] == 1)
      section.sh_addr = found->second;
  }
}

/// A name of the program is the end of its symbol's: let the symbol begin there.
void nameFunctions(ElfTables &tables) {
  for (const elf::Elf64_Shdr &section : tables.sections) {
    if (section.sh_type != elf::SHT_SYMTAB || section.sh_link >= tables.sections.size())
      continue;
    llvm::StringRef strings = tables.strings(tables.sections[section.sh_link]);
    uint64_t count = section.sh_size / sizeof(elf::Elf64_Sym);
    for (elf::Elf64_Sym &symbol : tables.table<elf::Elf64_Sym>(section.sh_offset, count)) {
      llvm::StringRef name = ElfTables::name(strings, symbol.st_name);
      symbol.st_name += name.size() - programName(name).size();
    }
  }
}

} // namespace

std::optional<std::string> placedObject(llvm::StringRef object,
                                        const llvm::StringMap<uint64_t> &sections) {
  std::string copy = object.str();
  ElfTables tables;
  if (!tables.read(copy))
    return std::nullopt;
  placeSections(tables, sections);
  nameFunctions(tables);
  return copy;
}

} // namespace twinjit
