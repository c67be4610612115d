// New names for symbols of a program, and for all that refers to them.
#pragma once

#include "common/outcome.h"
#include "ir/symbols.h"

#include "llvm/ADT/StringSet.h"

namespace twinjit {

using NewNames = llvm::DenseMap<mlir::Operation *, mlir::StringAttr>;

/// The names that occur in `root`, locations aside, as a symbol's or in references, other than
/// those of `symbols`.
llvm::StringSet<> otherNames(mlir::Operation *root, const RenamedSymbols &lookup,
                             const llvm::DenseSet<mlir::Operation *> &symbols);

/// Give symbols new names, in references that `lookup` resolves to them, too. Fails on operations
/// that do not take their own attributes back.
std::optional<Failure> renameSymbols(mlir::Operation *root, const RenamedSymbols &lookup,
                                     const NewNames &names);

} // namespace twinjit
