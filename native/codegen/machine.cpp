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

std::string whyNotHere(const Target &target) {
  llvm::Triple wanted(target.triple), host(llvm::sys::getProcessTriple());
  if (wanted.getArch() != host.getArch() || wanted.getOS() != host.getOS() ||
      wanted.getEnvironment() != host.getEnvironment())
    return "its triple is " + target.triple + ", this process's " + host.str();
  static const bool initialised = !llvm::InitializeNativeTarget();
  std::string error;
  const llvm::Target *backend =
      initialised ? llvm::TargetRegistry::lookupTarget(wanted, error) : nullptr;
  if (!backend)
    return "LLVM has no code generator for " + target.triple;
  using Subtarget = std::unique_ptr<llvm::MCSubtargetInfo>;
  std::string unknown = unknownIn(*Subtarget(backend->createMCSubtargetInfo(wanted, "", "")),
                                  target.cpu, target.features);
  if (!unknown.empty())
    return unknown;
  Subtarget needed(backend->createMCSubtargetInfo(wanted, target.cpu, target.features));
  // The host's table names instruction sets only, no tuning flags.
  for (const auto &feature : llvm::sys::getHostCPUFeatures())
    if (!feature.second && needed->checkFeatures("+" + feature.first().str()))
      return "it uses the CPU feature '" + feature.first().str() + "', which this CPU lacks";
  return "";
}

} // namespace twinjit
