// What of MLIR text must be looked at before its parser is.
#pragma once

#include "llvm/ADT/StringRef.h"

namespace twinjit {

/// How deep brackets are nested at most; strings and comments do not count.
unsigned nestingOf(llvm::StringRef text);

/// Whether the section of resources at the end (`{-# … #-}`) ends early or has what is no token.
///
/// Upstream defect. Versions: MLIR 22 with assertions. Trigger: such a section. Symptom: "shouldn't
/// advance past EOF or errors" ends the process. Remove when: the parser reports it.
bool hasBrokenResources(llvm::StringRef text);

} // namespace twinjit
