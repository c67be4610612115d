// Debug info of a module as a whole.
#pragma once

#include "llvm/IR/Module.h"

namespace twinjit::llvmir {

/// Whether named metadata of this name is of use to debug info alone.
bool isDebugMetadata(llvm::StringRef name);

/// Whether the node of a loop names the lines that it came from, and nothing else: LLVM drops it
/// with the debug info.
bool namesLinesOnly(const llvm::MDNode &loop);

/// Whether a module flag is of use to debug info alone.
bool isDebugFlag(const llvm::MDNode &flag);

/// Whether nodes are where debug info wants nodes of other kinds.
///
/// Upstream defect. Versions: LLVM 22 with assertions. Trigger: as said, in the location of an
/// instruction or record, a function's subprogram, and the operands of some kinds of nodes.
/// Symptom: the verifier, which is to report it, relies on it, or passes it on to the printer and
/// the writer; these end the process. Remove when: the verifier reports it.
bool hasMisplacedDebugInfo(const llvm::Module &module);

/// Remove all that a fingerprint leaves out where the policy ignores locations, but for the names
/// of source files.
void dropDebugInfo(llvm::Module &module);

} // namespace twinjit::llvmir
