#include "codegen/machine.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/Triple.h"

#include <memory>
#include <mutex>

namespace twinjit {

std::string unknownIn(const llvm::MCSubtargetInfo &known, llvm::StringRef cpu,
                      llvm::StringRef features) {
  if (!cpu.empty() && !known.isCPUStringValid(cpu))
    return "LLVM knows no CPU '" + cpu.str() + "' for " + known.getTargetTriple().str();
  for (llvm::StringRef feature : llvm::split(features, ',')) {
    llvm::StringRef name = feature.drop_front(feature.starts_with("+") || feature.starts_with("-"));
    if (!name.empty() && llvm::none_of(known.getAllProcessorFeatures(),
                                       [&](const auto &each) { return name == each.Key; }))
      return "LLVM knows no CPU feature '" + name.str() + "' for " + known.getTargetTriple().str();
  }
  return "";
}

Outcome<const llvm::Target *> findBackend(const Target &target) {
  static std::once_flag once;
  std::call_once(once, [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
    llvm::InitializeNativeTargetAsmParser();
  });
  llvm::Triple triple(target.triple);
  std::string error;
  const llvm::Target *backend = llvm::TargetRegistry::lookupTarget(triple, error);
  std::unique_ptr<llvm::MCSubtargetInfo> known(
      backend ? backend->createMCSubtargetInfo(triple, "", "") : nullptr);
  if (!known)
    return Failure{Kind::Target, "LLVM has no code generator for '" + target.triple + "'"};
  std::string unknown = unknownIn(*known, target.cpu, target.features);
  if (!unknown.empty())
    return Failure{Kind::Target, unknown};
  return backend;
}

std::string whyNotHere(const Target &target) {
  llvm::Triple wanted(target.triple), host(llvm::sys::getProcessTriple());
  if (wanted.getArch() != host.getArch() || wanted.getOS() != host.getOS() ||
      wanted.getEnvironment() != host.getEnvironment())
    return "its triple is " + target.triple + ", this process's " + host.str();
  auto backend = findBackend(target);
  if (!backend)
    return backend.failure().message;
  std::unique_ptr<llvm::MCSubtargetInfo> needed(
      (*backend)->createMCSubtargetInfo(wanted, target.cpu, target.features));
  // The host's table names instruction sets only, no tuning flags.
  for (const auto &feature : llvm::sys::getHostCPUFeatures())
    if (!feature.second && needed->checkFeatures("+" + feature.first().str()))
      return "it uses the CPU feature '" + feature.first().str() + "', which this CPU lacks";
  return "";
}

} // namespace twinjit
