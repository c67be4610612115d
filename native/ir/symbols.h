// The symbols of a program whose names do not count under a policy.
#pragma once

#include "common/policy.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/StringMap.h"

namespace twinjit {

/// The nearest symbol table around `operation`, which may be it; null where there is none.
mlir::Operation *symbolTableOf(mlir::Operation *operation);

/// The symbol's name; null for an operation that is none.
mlir::StringAttr symbolName(mlir::Operation *operation);

/// Finds symbols, and which of them a reference means; among them, those that are renamed: private
/// definitions, if the policy says so.
///
/// Private definitions are symbols that say they are private (in the LLVM dialect, by linkage too),
/// and have what they define: a body, or a global's value. A declaration's name is what gets
/// linked; an operation that MLIR does not know may mean anything by its name.
class RenamedSymbols {
public:
  /// `root` that is no module stands in a module of its own.
  RenamedSymbols(mlir::Operation *root, const Policy &policy);

  bool empty() const { return renamed.empty(); }
  bool contains(mlir::Operation *symbol) const { return renamed.contains(symbol); }

  /// What each part of `reference` means in `scope`, from the root inwards: the symbol where its
  /// name does not count, null where it does.
  llvm::SmallVector<mlir::Operation *, 2> resolve(mlir::Operation *scope,
                                                  mlir::SymbolRefAttr reference) const;

  /// The same for all symbols of the program: null where there is none of that name. Finds none
  /// under policies that neither rename nor lift.
  llvm::SmallVector<mlir::Operation *, 2> lookUp(mlir::Operation *scope,
                                                 mlir::SymbolRefAttr reference) const;

private:
  using Table = llvm::DenseMap<mlir::StringAttr, mlir::Operation *>;

  void add(Table &table, mlir::Operation *operation);
  void keepShadowed();
  mlir::Operation *find(mlir::Operation *scope, mlir::StringAttr name) const;

  llvm::DenseMap<mlir::Operation *, Table> tables; // by their operation; null: around the root
  llvm::DenseSet<mlir::Operation *> renamed;
  bool renames; // whether the policy does
};

} // namespace twinjit
