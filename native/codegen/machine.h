// What LLVM knows of targets, and whether this process can run their code.
#pragma once

#include "codegen/host.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <memory>

namespace llvm {
class MCSubtargetInfo;
class Target;
} // namespace llvm

namespace twinjit {

/// A target's code generator, and what LLVM makes of its CPU and features.
struct Backend {
  const llvm::Target *generator;
  std::shared_ptr<const llvm::MCSubtargetInfo> subtarget;
};

/// The first call in the process fills LLVM's registries, which are global and not thread-safe;
/// later ones only read them. Fails with Kind::Target for a triple, CPU or feature that LLVM does
/// not know, and for those on which it would end the process.
Outcome<Backend> findBackend(const Target &target);

/// Why LLVM knows no such CPU, to tune for or to make code for; empty where it does.
std::string unknownCpu(const llvm::MCSubtargetInfo &known, llvm::StringRef cpu);

/// The instruction sets that code for a subtarget may use, sorted. Tuning flags, which choose among
/// instructions that are there, are not among them.
std::vector<std::string> instructionSets(const llvm::MCSubtargetInfo &subtarget);

/// The first of `needed` that is not in `present`; null where all are. Both are sorted.
const std::string *firstLacking(llvm::ArrayRef<std::string> needed,
                                llvm::ArrayRef<std::string> present);

/// Why code of a triple that uses these instruction sets cannot run here: its architecture, system
/// or ABI is another, or this CPU lacks one. Empty where it can. `needed` is sorted.
std::string whyNotHere(const std::string &triple, const std::vector<std::string> &needed);

/// The triple of all machines of this process's architecture, system and ABI: without a vendor or a
/// version of the system.
std::string plainTriple();

} // namespace twinjit
