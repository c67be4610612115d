#include "codegen/machine.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/Triple.h"

#include <algorithm>
#include <mutex>

namespace twinjit {
namespace {

/// Why LLVM would warn of a feature on stderr and go on without it, or end the process; empty where
/// it knows all of `features`.
std::string unknownFeature(const llvm::MCSubtargetInfo &known, llvm::StringRef features) {
  if (features.empty())
    return "";
  for (llvm::StringRef feature : llvm::split(features, ',')) {
    if (!feature.starts_with("+") && !feature.starts_with("-"))
      return "the CPU feature '" + feature.str() + "' has no + or - before its name";
    llvm::StringRef name = feature.drop_front();
    if (llvm::none_of(known.getAllProcessorFeatures(),
                      [&](const auto &each) { return name == each.Key; }))
      return "LLVM knows no CPU feature '" + name.str() + "' for " + known.getTargetTriple().str();
  }
  return "";
}

/// Whether a subtarget runs in the mode of its triple. Features can say otherwise, and then the
/// code generator ends the process or writes code of another mode.
bool isInMode(const llvm::MCSubtargetInfo &subtarget) {
  return subtarget.getTargetTriple().getArch() != llvm::Triple::x86_64 ||
         subtarget.checkFeatures("+64bit-mode,+64bit,-32bit-mode,-16bit-mode,-x32");
}

/// Whether LLVM calls a feature of a CPU one that code is tuned by.
bool isTuning(const llvm::MCSubtargetInfo &subtarget, unsigned feature) {
  return llvm::any_of(subtarget.getAllProcessorDescriptions(),
                      [&](const auto &cpu) { return cpu.TuneImplies.getAsBitset().test(feature); });
}

bool isInstructionSet(const llvm::MCSubtargetInfo &subtarget,
                      const llvm::SubtargetFeatureKV &feature) {
  if (subtarget.getTargetTriple().getArch() != llvm::Triple::x86_64)
    return !isTuning(subtarget, feature.Value);
  // LLVM's table of x86 hosts names all instruction sets, and nothing else. Code with this one more
  // faults on other CPUs, too: SSE instructions on unaligned memory.
  return hostFeatures().contains(feature.Key) ||
         llvm::StringRef(feature.Key) == "sse-unaligned-mem";
}

/// What this CPU has. LLVM's table of hosts has the last word: the CPU's name may promise what a
/// virtual machine hides.
std::vector<std::string> instructionSetsHere() {
  auto backend = findBackend(hostTarget());
  if (!backend)
    return {};
  std::vector<std::string> present = instructionSets(*backend->subtarget);
  llvm::erase_if(present, [](const std::string &name) {
    auto told = hostFeatures().find(name);
    return told != hostFeatures().end() && !told->second;
  });
  return present;
}

} // namespace

std::string unknownCpu(const llvm::MCSubtargetInfo &known, llvm::StringRef cpu) {
  if (cpu.empty() || known.isCPUStringValid(cpu))
    return "";
  return "LLVM knows no CPU '" + cpu.str() + "' for " + known.getTargetTriple().str();
}

Outcome<Backend> findBackend(const Target &target) {
  static std::once_flag once;
  std::call_once(once, [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
    llvm::InitializeNativeTargetAsmParser();
    llvm::InitializeNativeTargetDisassembler();
  });
  llvm::Triple triple(target.triple);
  std::string error;
  const llvm::Target *generator = llvm::TargetRegistry::lookupTarget(triple, error);
  std::unique_ptr<llvm::MCSubtargetInfo> known(
      generator ? generator->createMCSubtargetInfo(triple, "", "") : nullptr);
  if (!known)
    return Failure{Kind::Target, "LLVM has no code generator for '" + target.triple + "'"};
  std::string unknown = unknownCpu(*known, target.cpu);
  if (unknown.empty())
    unknown = unknownFeature(*known, target.features);
  if (!unknown.empty())
    return Failure{Kind::Target, unknown};
  std::shared_ptr<llvm::MCSubtargetInfo> subtarget(
      generator->createMCSubtargetInfo(triple, target.cpu, target.features));
  if (!isInMode(*subtarget))
    return Failure{Kind::Target, "CPU '" + target.cpu + "' with features '" + target.features +
                                     "' does not run in the mode of " + target.triple};
  return Backend{generator, std::move(subtarget)};
}

std::vector<std::string> instructionSets(const llvm::MCSubtargetInfo &subtarget) {
  std::vector<std::string> names;
  for (const llvm::SubtargetFeatureKV &feature : subtarget.getAllProcessorFeatures())
    if (subtarget.getFeatureBits().test(feature.Value) && isInstructionSet(subtarget, feature))
      names.push_back(feature.Key);
  std::sort(names.begin(), names.end());
  return names;
}

const std::string *firstLacking(llvm::ArrayRef<std::string> needed,
                                llvm::ArrayRef<std::string> present) {
  auto lacking = llvm::find_if(needed, [&](const std::string &name) {
    return !std::binary_search(present.begin(), present.end(), name);
  });
  return lacking == needed.end() ? nullptr : &*lacking;
}

std::string whyNotHere(const std::string &triple, const std::vector<std::string> &needed) {
  llvm::Triple wanted(triple), host(llvm::sys::getProcessTriple());
  if (wanted.getArch() != host.getArch() || wanted.getOS() != host.getOS() ||
      wanted.getEnvironment() != host.getEnvironment())
    return "its triple is " + triple + ", this process's " + host.str();
  static const std::vector<std::string> present = instructionSetsHere();
  if (const std::string *lacking = firstLacking(needed, present))
    return "it uses the CPU feature '" + *lacking + "', which this CPU lacks";
  return "";
}

std::string plainTriple() {
  llvm::Triple host(llvm::sys::getProcessTriple());
  llvm::StringRef vendor = host.isOSDarwin() ? "apple" : "unknown";
  std::string plain = (llvm::Triple::getArchTypeName(host.getArch()) + "-" + vendor + "-" +
                       llvm::Triple::getOSTypeName(host.getOS()))
                          .str();
  if (host.getEnvironment() == llvm::Triple::UnknownEnvironment)
    return plain;
  return plain + "-" + llvm::Triple::getEnvironmentTypeName(host.getEnvironment()).str();
}

} // namespace twinjit
