#include "objects/disassembly.h"

#include "codegen/machine.h"
#include "objects/object_file.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/MC/MCAsmInfo.h"
#include "llvm/MC/MCContext.h"
#include "llvm/MC/MCDisassembler/MCDisassembler.h"
#include "llvm/MC/MCInst.h"
#include "llvm/MC/MCInstPrinter.h"
#include "llvm/MC/MCInstrInfo.h"
#include "llvm/MC/MCRegisterInfo.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/MCTargetOptions.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/TargetParser/Triple.h"

#include <algorithm>
#include <memory>

namespace twinjit::objects {
namespace {

using Lines = std::vector<std::string>;

/// Bytes of a section from `begin` on, which are shown by their offsets from there.
struct Range {
  const Section &section;
  uint64_t begin;
  llvm::StringRef bytes;

  /// What relocations put into the bytes from `from` to `to`, as comments.
  std::string relocations(const ObjectFile &object, uint64_t from, uint64_t to) const {
    std::string text;
    for (const Relocation &each : section.relocations)
      if (each.offset >= begin + from && each.offset < begin + to)
        text += "  # " + object.describe(each);
    return text;
  }
};

std::string line(uint64_t offset, const std::string &text) {
  return llvm::utohexstr(offset, /*LowerCase=*/true) + ": " + text;
}

std::string hex(llvm::StringRef bytes) {
  std::string text;
  for (char byte : bytes)
    text += (text.empty() ? "" : " ") + llvm::toHex(llvm::StringRef(&byte, 1), /*LowerCase=*/true);
  return text;
}

/// LLVM's disassembler for one target.
class Disassembler {
public:
  explicit Disassembler(Backend backend, const llvm::Triple &triple) : backend(backend) {
    const llvm::Target &target = *backend.generator;
    registers.reset(target.createMCRegInfo(triple));
    assembler.reset(target.createMCAsmInfo(*registers, triple, options));
    instructions.reset(target.createMCInstrInfo());
    context = std::make_unique<llvm::MCContext>(triple, assembler.get(), registers.get(),
                                                backend.subtarget.get());
    decoder.reset(target.createMCDisassembler(*backend.subtarget, *context));
    printer.reset(target.createMCInstPrinter(triple, assembler->getAssemblerDialect(), *assembler,
                                             *instructions, *registers));
    if (printer)
      printer->setPrintBranchImmAsAddress(true);
  }

  bool isThere() const { return decoder && printer; }

  /// Where instructions begin. What is none is passed byte by byte.
  std::vector<uint64_t> starts(const Range &range) {
    std::vector<uint64_t> found;
    llvm::MCInst ignored;
    for (uint64_t at = 0; at < range.bytes.size(); at += decode(range, at, ignored).size)
      found.push_back(at);
    return found;
  }

  std::string print(const ObjectFile &object, const Range &range, uint64_t at) {
    llvm::MCInst instruction;
    Decoded decoded = decode(range, at, instruction);
    std::string text;
    if (decoded.isInstruction) {
      llvm::raw_string_ostream stream(text);
      printer->printInst(&instruction, at, "", *backend.subtarget, stream);
    } else {
      text = ".byte " + hex(range.bytes.substr(at, decoded.size));
    }
    std::replace(text.begin(), text.end(), '\t', ' ');
    text = llvm::StringRef(text).trim().str();
    return line(at, text) + range.relocations(object, at, at + decoded.size);
  }

private:
  struct Decoded {
    uint64_t size;
    bool isInstruction;
  };

  Decoded decode(const Range &range, uint64_t at, llvm::MCInst &instruction) {
    llvm::ArrayRef<uint8_t> rest = llvm::arrayRefFromStringRef(range.bytes.drop_front(at));
    uint64_t size = 0;
    auto status = decoder->getInstruction(instruction, size, rest, at, llvm::nulls());
    if (status == llvm::MCDisassembler::Success && size > 0)
      return {std::min<uint64_t>(size, rest.size()), true};
    return {1, false};
  }

  Backend backend;
  llvm::MCTargetOptions options;
  std::unique_ptr<llvm::MCRegisterInfo> registers;
  std::unique_ptr<llvm::MCAsmInfo> assembler;
  std::unique_ptr<llvm::MCInstrInfo> instructions;
  std::unique_ptr<llvm::MCContext> context;
  std::unique_ptr<llvm::MCDisassembler> decoder;
  std::unique_ptr<llvm::MCInstPrinter> printer;
};

/// Indices from which and before which to show `count` things, of which `wanted` is to be seen.
std::pair<size_t, size_t> window(size_t count, size_t wanted, size_t most) {
  size_t before = most - most / 4;
  size_t begin = wanted >= before ? wanted - before + 1 : 0;
  begin = std::min(begin, count);
  return {begin, std::min(count, begin + most)};
}

Lines instructionsOf(Disassembler &disassembler, const ObjectFile &object, const Range &range,
                     const Passage &passage) {
  std::vector<uint64_t> starts = disassembler.starts(range);
  uint64_t wanted = passage.offset >= range.begin ? passage.offset - range.begin : 0;
  size_t index = std::upper_bound(starts.begin(), starts.end(), wanted) - starts.begin();
  auto [begin, end] = window(starts.size(), index ? index - 1 : 0, passage.lines);
  Lines lines;
  for (size_t at = begin; at < end; ++at)
    lines.push_back(disassembler.print(object, range, starts[at]));
  return lines;
}

Lines bytesOf(const ObjectFile &object, const Section &section, const Passage &passage) {
  constexpr size_t kWidth = 16;
  Range range{section, 0, section.content};
  size_t count = (section.content.size() + kWidth - 1) / kWidth;
  auto [begin, end] = window(count, passage.offset / kWidth, passage.lines);
  Lines lines;
  for (size_t at = begin * kWidth; at < end * kWidth; at += kWidth)
    lines.push_back(line(at, hex(section.content.substr(at, kWidth))) +
                    range.relocations(object, at, at + kWidth));
  return lines;
}

} // namespace

Outcome<Lines> disassemble(llvm::StringRef object, const Target &target, const Passage &passage) {
  auto file = ObjectFile::read(object);
  if (!file)
    return file.failure();
  const Section *section = file->section(passage.section);
  if (!section)
    return Lines();
  const Symbol *function = file->function(*section, passage.function);
  if (!function || function->value > section->content.size())
    return bytesOf(*file, *section, passage);
  auto backend = findBackend(target);
  if (!backend)
    return backend.failure();
  Disassembler disassembler(*backend, llvm::Triple(target.triple));
  if (!disassembler.isThere())
    return Failure{Kind::Target, "LLVM has no disassembler for '" + target.triple + "'"};
  Range range{*section, function->value, section->content.substr(function->value, function->size)};
  return instructionsOf(disassembler, *file, range, passage);
}

} // namespace twinjit::objects
