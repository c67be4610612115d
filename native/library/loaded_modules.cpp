#include "library/loaded_modules.h"

#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/IR/GVMaterializer.h"

namespace twinjit::library {
namespace {

/// The names of types are those of the whole context: the next module with a type of a known name
/// would get another one.
void dropTypeNames(const llvm::Module &module) {
  for (llvm::StructType *type : module.getIdentifiedStructTypes())
    if (type->hasName())
      type->setName("");
}

} // namespace

LoadedModules::LoadedModules(const BitcodeFiles &files) : files(files), modules(files.size()) {
  context.setDiscardValueNames(true);
  context.setDiagnosticHandler(std::make_unique<DiagnosticCollector>(diagnostics));
}

Outcome<llvm::Module *> LoadedModules::open(uint32_t file) {
  if (modules[file])
    return modules[file].get();
  auto module = llvm::getLazyBitcodeModule(files.buffer(file), context, true);
  if (!module)
    return unreadable(files.buffer(file), llvm::toString(module.takeError()));
  (*module)->getMaterializer()->setStripDebugInfo();
  if (llvm::NamedMDNode *units = (*module)->getNamedMetadata("llvm.dbg.cu"))
    units->eraseFromParent();
  dropTypeNames(**module);
  modules[file] = std::move(*module);
  return modules[file].get();
}

Outcome<const Plan *> LoadedModules::plan(uint32_t file, llvm::StringRef name) {
  auto module = open(file);
  if (!module)
    return module.failure();
  llvm::GlobalValue *root = (*module)->getNamedValue(name);
  if (!root || root->hasLocalLinkage() || root->isDeclaration())
    return static_cast<const Plan *>(nullptr);
  std::unique_ptr<Plan> &plan = plans[root];
  if (!plan)
    plan = std::make_unique<Plan>(makePlan(*root));
  return plan.get();
}

bool LoadedModules::shrink() {
  constexpr size_t kAtOnce = 4; // less than a millisecond
  plans.clear();
  for (size_t dropped = 0; dropped != kAtOnce;) {
    if (modules.empty())
      return false;
    dropped += modules.back() != nullptr;
    modules.pop_back();
  }
  return true;
}

Outcome<std::unique_ptr<llvm::Module>> LoadedModules::readProgram(llvm::StringRef bitcode) {
  programSize += bitcode.size();
  auto module = llvm::parseBitcodeFile(llvm::MemoryBufferRef(bitcode, "twinjit"), context);
  if (!module)
    return Failure{Kind::Library,
                   "cannot read the program's bitcode: " + llvm::toString(module.takeError())};
  dropTypeNames(**module);
  return std::move(*module);
}

} // namespace twinjit::library
