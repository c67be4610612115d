#include "library/bitcode_files.h"

#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/Bitcode/LLVMBitCodes.h"
#include "llvm/Bitstream/BitstreamReader.h"

#include <algorithm>

namespace twinjit::library {
namespace {

using Paths = std::vector<std::string>;

/// Reads the table of modules in a summary index, and nothing else of it.
class PathReader {
public:
  explicit PathReader(llvm::StringRef bytes) : cursor(bytes) {}

  llvm::Error run();

  Paths paths;

private:
  llvm::Error meet(llvm::BitstreamEntry entry);
  llvm::Error enter(unsigned block);
  llvm::Error readTable();
  llvm::Error readRecord(unsigned abbreviation);

  llvm::BitstreamCursor cursor;
  std::optional<llvm::BitstreamBlockInfo> abbreviations;
};

llvm::Error PathReader::run() {
  while (!cursor.AtEndOfStream()) {
    auto entry = cursor.advance();
    if (!entry)
      return entry.takeError();
    if (llvm::Error error = meet(*entry))
      return error;
  }
  return llvm::Error::success();
}

llvm::Error PathReader::meet(llvm::BitstreamEntry entry) {
  switch (entry.Kind) {
  case llvm::BitstreamEntry::Error:
    return llvm::createStringError("it is damaged");
  case llvm::BitstreamEntry::EndBlock:
    return llvm::Error::success();
  case llvm::BitstreamEntry::SubBlock:
    return enter(entry.ID);
  case llvm::BitstreamEntry::Record:
    return cursor.skipRecord(entry.ID).takeError();
  }
  return llvm::Error::success();
}

llvm::Error PathReader::enter(unsigned block) {
  switch (block) {
  case llvm::bitc::MODULE_BLOCK_ID:
    return cursor.EnterSubBlock(block);
  case llvm::bitc::MODULE_STRTAB_BLOCK_ID:
    return readTable();
  case llvm::bitc::BLOCKINFO_BLOCK_ID: {
    auto found = cursor.ReadBlockInfoBlock();
    if (!found)
      return found.takeError();
    abbreviations = std::move(*found);
    cursor.setBlockInfo(abbreviations ? &*abbreviations : nullptr);
    return llvm::Error::success();
  }
  default:
    return cursor.SkipBlock();
  }
}

llvm::Error PathReader::readTable() {
  if (llvm::Error error = cursor.EnterSubBlock(llvm::bitc::MODULE_STRTAB_BLOCK_ID))
    return error;
  for (;;) {
    auto entry = cursor.advanceSkippingSubblocks();
    if (!entry)
      return entry.takeError();
    if (entry->Kind == llvm::BitstreamEntry::EndBlock)
      return llvm::Error::success();
    if (entry->Kind == llvm::BitstreamEntry::Error)
      return llvm::createStringError("its table of modules is damaged");
    if (llvm::Error error = readRecord(entry->ID))
      return error;
  }
}

llvm::Error PathReader::readRecord(unsigned abbreviation) {
  llvm::SmallVector<uint64_t> record; // number of the module, characters of its path
  auto code = cursor.readRecord(abbreviation, record);
  if (!code)
    return code.takeError();
  if (*code == llvm::bitc::MST_CODE_ENTRY && record.size() > 1)
    paths.emplace_back(record.begin() + 1, record.end());
  return llvm::Error::success();
}

llvm::Expected<Paths> readPaths(llvm::StringRef bytes) {
  auto modules = llvm::getBitcodeModuleList(llvm::MemoryBufferRef(bytes, "index"));
  if (!modules)
    return modules.takeError();
  Paths paths;
  for (const llvm::BitcodeModule &module : *modules) {
    PathReader reader(module.getBuffer());
    if (llvm::Error error = reader.run())
      return std::move(error);
    paths.insert(paths.end(), reader.paths.begin(), reader.paths.end());
  }
  return paths;
}

} // namespace

Outcome<Paths> summarisedModules(llvm::StringRef index) {
  auto paths = readPaths(index);
  if (!paths)
    return Failure{Kind::Library,
                   "cannot read the summary index: " + llvm::toString(paths.takeError())};
  if (paths->empty())
    return Failure{Kind::Library, "the summary index names no modules; give one of ThinLTO that "
                                  "is combined of several modules, or the bitcode itself"};
  std::sort(paths->begin(), paths->end());
  paths->erase(std::unique(paths->begin(), paths->end()), paths->end());
  return std::move(*paths);
}

} // namespace twinjit::library
