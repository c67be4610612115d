// What LLVM knows of targets, and whether this process can run their code.
#pragma once

#include "codegen/host.h"

#include "llvm/ADT/StringRef.h"

namespace llvm {
class MCSubtargetInfo;
}

namespace twinjit {

/// Why LLVM would not know a CPU or a feature; empty when it knows all. It would only warn, on
/// stderr, and go on with another.
std::string unknownIn(const llvm::MCSubtargetInfo &known, llvm::StringRef cpu,
                      llvm::StringRef features);

/// Why code for `target` cannot run here: LLVM does not know the target, its architecture, system
/// or ABI is another, or the code may use instructions that this CPU lacks. Empty where it can.
/// Tuning flags do not count.
std::string whyNotHere(const Target &target);

} // namespace twinjit
