#include "library/bitcode_files.h"

#include "common/diagnostics.h"

#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/ModuleSummaryIndex.h"
#include "llvm/Support/JSON.h"

#include <algorithm>

namespace twinjit::library {
namespace {

uint64_t guid(llvm::StringRef name) {
  return llvm::GlobalValue::getGUIDAssumingExternalLinkage(
      llvm::GlobalValue::dropLLVMManglingEscape(name));
}

/// Call `visit` with each definition that other modules can refer to, and the number of its file.
template <typename Visit>
std::optional<Failure> forEachDefinition(const BitcodeFiles &files, Visit visit) {
  for (uint32_t file = 0; file != files.size(); ++file) {
    llvm::LLVMContext context; // of its own: contexts keep the types of modules that are gone
    std::vector<Diagnostic> diagnostics;
    context.setDiagnosticHandler(std::make_unique<DiagnosticCollector>(diagnostics));
    auto module = llvm::getLazyBitcodeModule(files.buffer(file), context, true);
    if (!module)
      return unreadable(files.buffer(file), llvm::toString(module.takeError()));
    for (const llvm::GlobalValue &value : (*module)->global_values())
      if (!value.isDeclaration() && !value.hasLocalLinkage() && value.hasName())
        visit(value, file);
  }
  return std::nullopt;
}

Outcome<std::unique_ptr<llvm::ModuleSummaryIndex>> readSummary(llvm::StringRef bytes) {
  auto index = llvm::getModuleSummaryIndex(llvm::MemoryBufferRef(bytes, "index"));
  if (!index)
    return Failure{Kind::Library,
                   "cannot read the summary index: " + llvm::toString(index.takeError())};
  return std::move(*index);
}

/// As summarisedModules() has them.
std::vector<std::string> sortedPaths(const llvm::ModuleSummaryIndex &index) {
  std::vector<std::string> paths;
  for (const auto &entry : index.modulePaths())
    paths.push_back(entry.getKey().str());
  std::sort(paths.begin(), paths.end()); // the index has them in the order of a hash table
  return paths;
}

} // namespace

Failure unreadable(llvm::MemoryBufferRef buffer, const std::string &why) {
  std::string message = "cannot read " + buffer.getBufferIdentifier().str() + ": " + why;
  auto producer = llvm::getBitcodeProducerString(buffer);
  if (producer && !producer->empty())
    message += "; " + *producer +
               " wrote it, and LLVM " LLVM_VERSION_STRING
               " reads bitcode of itself and older ones: compile it with clang " +
               std::to_string(LLVM_VERSION_MAJOR) + " or older";
  else
    llvm::consumeError(producer.takeError());
  return {Kind::Library, message};
}

Outcome<bool> BitcodeFiles::add(std::string name, std::string bytes) {
  const auto *data = reinterpret_cast<const unsigned char *>(bytes.data());
  if (!llvm::isBitcode(data, data + bytes.size()))
    return Failure{Kind::Library, name + " is no LLVM bitcode; make some with `clang -c "
                                         "-emit-llvm` or `llvm-as`"};
  files.push_back({std::move(name), std::move(bytes)});
  return true;
}

Digest BitcodeFiles::identity() const {
  FieldHasher hasher;
  for (const File &file : files)
    hasher.string(file.bytes);
  return hasher.finish();
}

NameIndex::NameIndex(std::string summary, size_t files) : NameIndex() {
  state->summary = std::move(summary);
  state->opened = files;
}

void NameIndex::State::read() {
  if (summary.empty())
    return;
  auto index = readSummary(summary);
  if (!index) {
    failure = index.failure();
    return;
  }
  llvm::StringMap<uint32_t> numbers;
  for (const std::string &path : sortedPaths(**index))
    numbers.try_emplace(path, numbers.size());
  if (numbers.size() != opened) {
    failure = {Kind::Library, "the summary index changed while the library was opened; open it "
                              "again"};
    return;
  }
  for (const auto &[guid, info] : **index)
    for (const auto &definition : info.getSummaryList()) {
      if (llvm::GlobalValue::isLocalLinkage(definition->linkage()))
        continue;
      uint32_t number = numbers.lookup(definition->modulePath());
      auto [known, isNew] = files.try_emplace(guid, number);
      known->second = std::min(known->second, number);
    }
  summary = std::string();
}

Outcome<NameIndex> NameIndex::scan(const BitcodeFiles &files) {
  NameIndex result;
  auto failure = forEachDefinition(files, [&](const llvm::GlobalValue &value, uint32_t file) {
    result.state->files.try_emplace(guid(value.getName()), file);
  });
  if (failure)
    return std::move(*failure);
  return result;
}

Outcome<std::optional<uint32_t>> NameIndex::fileOf(llvm::StringRef name) const {
  std::call_once(state->once, [this] { state->read(); });
  if (state->failure)
    return *state->failure;
  auto found = state->files.find(guid(name));
  return found == state->files.end() ? std::nullopt : std::optional<uint32_t>(found->second);
}

Outcome<std::vector<std::string>> definedFunctions(const BitcodeFiles &files) {
  std::vector<std::string> names;
  auto failure = forEachDefinition(files, [&](const llvm::GlobalValue &value, uint32_t) {
    if (llvm::isa<llvm::Function>(value) && llvm::json::isUTF8(value.getName()))
      names.push_back(value.getName().str());
  });
  if (failure)
    return std::move(*failure);
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

} // namespace twinjit::library
