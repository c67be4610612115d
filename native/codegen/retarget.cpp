#include "codegen/retarget.h"

#include "codegen/machine.h"

#include "llvm/ADT/StringMap.h"

namespace twinjit {
namespace {

std::string joined(llvm::StringRef features, llvm::StringRef more) {
  return (features + (features.empty() || more.empty() ? "" : ",") + more).str();
}

/// The CPU and features that a function's code may use.
Target targetOf(const llvm::Function &function, const Target &target) {
  llvm::StringRef cpu = function.getFnAttribute("target-cpu").getValueAsString();
  llvm::StringRef features = function.getFnAttribute("target-features").getValueAsString();
  if (!cpu.empty())
    return {target.triple, cpu.str(), features.str()};
  return {target.triple, target.cpu, joined(target.features, features)};
}

/// Judges the targets of functions, each distinct one once.
class Judge {
public:
  Judge(const Target &target, const llvm::MCSubtargetInfo &known)
      : known(known), present(instructionSets(known)) {
    whys[target.cpu + "\n" + target.features] = "";
  }

  std::string whyBeyond(const Target &wanted) {
    auto [why, isNew] = whys.try_emplace(wanted.cpu + "\n" + wanted.features);
    if (isNew)
      why->second = find(wanted);
    return why->second;
  }

  std::string unknownTuning(const llvm::Function &function) const {
    return unknownCpu(known, function.getFnAttribute("tune-cpu").getValueAsString());
  }

private:
  std::string find(const Target &wanted) const {
    auto backend = findBackend(wanted);
    if (!backend)
      return backend.failure().message;
    std::vector<std::string> needed = instructionSets(*backend->subtarget);
    const std::string *beyond = firstLacking(needed, present);
    return beyond ? "its target-cpu or target-features have the CPU feature '" + *beyond +
                        "', which the target it is compiled for lacks; remove the attribute, or "
                        "compile for a target that has the feature"
                  : "";
  }

  const llvm::MCSubtargetInfo &known;
  const std::vector<std::string> present;
  llvm::StringMap<std::string> whys; // by CPU and features
};

} // namespace

std::string retarget(llvm::Module &module, const Target &target, llvm::TargetMachine &machine) {
  const llvm::Triple &own = module.getTargetTriple();
  llvm::Triple wanted(target.triple);
  if (!own.str().empty() && (own.getArch() != wanted.getArch() || own.getOS() != wanted.getOS()))
    return "the program is for '" + own.str() + "' (llvm.target_triple), the compiler for '" +
           target.triple + "'; remove the attribute or choose that target";
  module.setTargetTriple(wanted);
  module.setDataLayout(machine.createDataLayout());
  Judge judge(target, *machine.getMCSubtargetInfo());
  for (llvm::Function &function : module) {
    if (function.isDeclaration())
      continue;
    Target own = targetOf(function, target);
    std::string why = judge.whyBeyond(own);
    if (why.empty())
      why = judge.unknownTuning(function);
    if (!why.empty())
      return "'" + function.getName().str() + "': " + why;
    function.addFnAttr("target-cpu", own.cpu);
    function.addFnAttr("target-features", own.features);
  }
  return "";
}

} // namespace twinjit
