// What LLVM knows of targets, and whether this process can run their code.
#pragma once

#include "codegen/host.h"

#include "llvm/ADT/StringRef.h"

namespace llvm {
class MCSubtargetInfo;
class Target;
} // namespace llvm

namespace twinjit {

/// Why LLVM would not know a CPU or a feature; empty when it knows all. It would only warn, on
/// stderr, and go on with another.
std::string unknownIn(const llvm::MCSubtargetInfo &known, llvm::StringRef cpu,
                      llvm::StringRef features);

/// LLVM's code generator for a target. The first call in the process fills LLVM's registries, which
/// are global and not thread-safe; later ones only read them. Fails with Kind::Target for a triple,
/// CPU or feature that LLVM does not know.
Outcome<const llvm::Target *> findBackend(const Target &target);

/// Why code for `target` cannot run here: LLVM does not know the target, its architecture, system
/// or ABI is another, or the code may use instructions that this CPU lacks. Empty where it can.
/// Tuning flags do not count.
std::string whyNotHere(const Target &target);

} // namespace twinjit
