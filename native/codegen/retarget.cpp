#include "codegen/retarget.h"

#include "codegen/intrinsics.h"
#include "codegen/machine.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/MC/MCSubtargetInfo.h"

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

/// Judges functions and the targets they name, each distinct target once.
class Judge {
public:
  Judge(const Target &target, const llvm::MCSubtargetInfo &known)
      : known(known), present(instructionSets(known)) {
    verdicts[target.cpu + "\n" + target.features] = {"", present};
  }

  /// Why a function whose code is for `own` cannot be compiled; empty where it can.
  std::string why(const llvm::Function &function, const Target &own) {
    auto [verdict, isNew] = verdicts.try_emplace(own.cpu + "\n" + own.features);
    if (isNew)
      verdict->second = judge(own);
    std::string why = verdict->second.why;
    if (why.empty())
      why = unknownCpu(known, function.getFnAttribute("tune-cpu").getValueAsString());
    return why.empty() ? lacking(function, verdict->second.allowed) : why;
  }

private:
  struct Verdict {
    std::string why;
    std::vector<std::string> allowed; // instruction sets that code may use, sorted
  };

  Verdict judge(const Target &wanted) const {
    auto backend = findBackend(wanted);
    if (!backend)
      return {backend.failure().message, {}};
    std::vector<std::string> allowed = instructionSets(*backend->subtarget);
    if (const std::string *beyond = firstLacking(allowed, present))
      return {"its target-cpu or target-features have the CPU feature '" + *beyond +
                  "', which the target it is compiled for lacks; remove the attribute, or compile "
                  "for a target that has the feature",
              {}};
    return {"", std::move(allowed)};
  }

  static std::string lacking(const llvm::Function &function, llvm::ArrayRef<std::string> allowed) {
    for (const llvm::Instruction &instruction : llvm::instructions(function))
      if (auto *call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction)) {
        llvm::StringRef name = call->getCalledFunction()->getName();
        llvm::StringRef lacked = lackedBy(name, allowed);
        if (!lacked.empty())
          return ("it calls " + name + ", which needs the CPU feature '" + lacked +
                  "'; compile for a target that has it")
              .str();
      }
    return "";
  }

  const llvm::MCSubtargetInfo &known;
  const std::vector<std::string> present;
  llvm::StringMap<Verdict> verdicts; // by CPU and features
};

} // namespace

bool isAlike(const llvm::DataLayout &own, const llvm::DataLayout &wanted) {
  llvm::LLVMContext context;
  llvm::Type *types[] = {llvm::Type::getInt16Ty(context), llvm::Type::getInt32Ty(context),
                         llvm::Type::getInt64Ty(context), llvm::Type::getFloatTy(context),
                         llvm::Type::getDoubleTy(context)};
  return own.isLittleEndian() == wanted.isLittleEndian() &&
         own.getPointerSize() == wanted.getPointerSize() &&
         own.getIndexSize(0) == wanted.getIndexSize(0) &&
         llvm::all_of(types, [&](llvm::Type *type) {
           return own.getABITypeAlign(type) == wanted.getABITypeAlign(type);
         });
}

std::string retarget(llvm::Module &module, const Target &target, llvm::TargetMachine &machine) {
  const llvm::Triple &own = module.getTargetTriple();
  llvm::Triple wanted(target.triple);
  bool isNamed = !own.getArchName().empty() && own.getArchName() != "unknown";
  if (isNamed && (own.getArch() != wanted.getArch() || own.getOS() != wanted.getOS()))
    return "the program is for '" + own.str() + "' (its target triple), the compiler for '" +
           target.triple + "'; remove the triple or choose that target";
  llvm::DataLayout layout = machine.createDataLayout();
  if (!module.getDataLayoutStr().empty() && !isAlike(module.getDataLayout(), layout))
    return "the program's data layout is '" + module.getDataLayoutStr() + "', that of '" +
           target.triple + "' is '" + layout.getStringRepresentation() +
           "'; remove it, or make the program for that target";
  module.setTargetTriple(wanted);
  module.setDataLayout(layout);
  Judge judge(target, *machine.getMCSubtargetInfo());
  for (llvm::Function &function : module) {
    if (function.isDeclaration())
      continue;
    Target own = targetOf(function, target);
    if (std::string why = judge.why(function, own); !why.empty())
      return "'" + function.getName().str() + "': " + why;
    function.addFnAttr("target-cpu", own.cpu);
    function.addFnAttr("target-features", own.features);
  }
  return "";
}

} // namespace twinjit
