// Copies functions within a context.
#pragma once

#include "library/replacements.h"

#include "llvm/IR/Function.h"

namespace twinjit::library {

/// Make a declaration a copy of a function without debug information and addresses of blocks, and
/// of the same type. `mapsMetadata` says whether metadata in it refers to values.
void copyFunction(const llvm::Function &source, llvm::Function &target, Replacements &replacements,
                  bool mapsMetadata);

} // namespace twinjit::library
