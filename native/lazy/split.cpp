#include "lazy/split.h"

#include "codegen/admission.h"
#include "lazy/extraction.h"
#include "llvmir/debug_info.h"

#include "llvm/Support/raw_ostream.h"

namespace twinjit::lazy {
namespace {

void nameAll(llvm::Module &module) {
  size_t count = 0;
  for (llvm::GlobalValue &symbol : module.global_values())
    if (!symbol.hasName())
      symbol.setName("twinjit.unnamed." + llvm::Twine(count++));
}

std::string typeOf(const llvm::Function &function) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  if (function.getCallingConv() != llvm::CallingConv::C)
    stream << "cc " << function.getCallingConv() << ' ';
  function.getFunctionType()->print(stream);
  return text;
}

Failure unknown(llvm::StringRef name) {
  return {Kind::Unsupported, "the program defines no function '" + name.str() + "'"};
}

/// What no function's part would show.
std::optional<Failure> refuse(const llvm::Module &module) {
  if (std::string why = whyVariablesRefused(module); !why.empty())
    return Failure{Kind::Emission, why};
  if (!module.getModuleInlineAsm().empty())
    return Failure{Kind::Unsupported, "the program cannot be compiled function by function: its "
                                      "module assembly belongs to no function"};
  return std::nullopt;
}

} // namespace

Outcome<std::shared_ptr<Split>> Split::parse(llvm::StringRef source, llvm::StringRef name) {
  auto module = llvmir::OwnModule::parse(source, name);
  if (!module)
    return module.failure();
  if (auto failure = refuse((*module)->get()))
    return *failure;
  (*module)->onItsStack([&] {
    llvmir::dropDebugInfo((*module)->change());
    nameAll((*module)->change());
  });
  return std::shared_ptr<Split>(new Split(std::move(*module)));
}

std::vector<Split::Function> Split::functions() {
  std::lock_guard<std::mutex> lock(module->mutex);
  std::vector<Function> found;
  for (const llvm::Function &each : module->get())
    if (!each.isIntrinsic())
      found.push_back({each.getName().str(), typeOf(each), !each.isDeclarationForLinker(),
                       !each.hasLocalLinkage()});
  return found;
}

Outcome<std::vector<std::string>> Split::outside(llvm::StringRef name) {
  std::lock_guard<std::mutex> lock(module->mutex);
  const llvm::Function *function = module->get().getFunction(name);
  if (!function || function->isDeclaration())
    return unknown(name);
  Closure closure;
  closure.addFunction(*function);
  closure.run();
  std::vector<std::string> names;
  for (const llvm::GlobalValue *each : closure.met())
    if (auto *met = llvm::dyn_cast<llvm::Function>(each))
      if (met->isDeclaration() && !met->isIntrinsic())
        names.push_back(met->getName().str());
  return names;
}

Outcome<Part> Split::extract(llvm::StringRef name, llvm::ArrayRef<std::string> lazy) {
  std::lock_guard<std::mutex> lock(module->mutex);
  const llvm::Function *function = module->get().getFunction(name);
  if (!function || function->isDeclaration())
    return unknown(name);
  std::optional<Outcome<Part>> part;
  module->onItsStack([&] {
    Extraction extraction(module->get(), lazy);
    extraction.addRoot(*function);
    part.emplace(extraction.finish());
  });
  return std::move(*part);
}

Outcome<Part> Split::publicStub(llvm::StringRef name) {
  std::lock_guard<std::mutex> lock(module->mutex);
  const llvm::Function *function = module->get().getFunction(name);
  if (!function)
    return unknown(name);
  Extraction extraction(module->get(), {});
  extraction.addStub(*function);
  return extraction.finish();
}

Outcome<Part> Split::data(llvm::ArrayRef<std::string> lazy, std::vector<std::string> &names) {
  std::lock_guard<std::mutex> lock(module->mutex);
  std::vector<const llvm::GlobalVariable *> variables;
  for (const llvm::GlobalVariable &each : module->get().globals())
    if (isShared(each)) {
      variables.push_back(&each);
      names.push_back(each.getName().str());
    }
  std::optional<Outcome<Part>> part;
  module->onItsStack([&] {
    Extraction extraction(module->get(), lazy);
    extraction.addData(variables);
    part.emplace(extraction.finish());
  });
  return std::move(*part);
}

} // namespace twinjit::lazy
