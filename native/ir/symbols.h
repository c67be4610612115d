// The symbols of a program whose names do not count under a policy.
#pragma once

#include "common/policy.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/Operation.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/StringMap.h"

namespace twinjit {

/// Whether `operation` has symbols in it.
inline bool isSymbolTable(mlir::Operation &operation) {
  return operation.getNumRegions() != 0 && operation.hasTrait<mlir::OpTrait::SymbolTable>();
}

/// The symbol's name; null for an operation that is none.
mlir::StringAttr symbolName(mlir::Operation *operation);

/// The references in an attribute, each once, in an order that its content gives.
llvm::SmallVector<mlir::SymbolRefAttr> referencesIn(mlir::Attribute attribute);

/// Finds symbols, and which of them a reference means; among them, those that are renamed: private
/// definitions, if the policy says so.
///
/// Private definitions are symbols that say they are private (in the LLVM dialect, by linkage too),
/// and have what they define: a body, or a global's value. A declaration's name is what gets
/// linked; an operation that MLIR does not know may mean anything by its name. A name that is not
/// used for this definition alone counts, too, since what is meant by it cannot be told: one that
/// is defined again further in or out, in what may be a symbol table that MLIR does not know, or
/// that is used where no definition of it is seen, or that a text has: assembly, or a string
/// attribute that is the name.
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

  /// The table around one in which a symbol may be looked up next; null is around the root.
  mlir::Operation *outwards(mlir::Operation *table) const { return outer.lookup(table); }

private:
  friend class SymbolCollector;
  friend class ReferenceChecker;

  using Table = llvm::DenseMap<mlir::StringAttr, mlir::Operation *>;

  mlir::Operation *find(mlir::Operation *scope, mlir::StringAttr name) const;
  void keep(const llvm::DenseSet<mlir::StringAttr> &names);

  llvm::DenseMap<mlir::Operation *, Table> tables; // by their operation; null: around the root
  llvm::DenseMap<mlir::Operation *, mlir::Operation *> outer;
  llvm::DenseSet<mlir::Operation *> renamed;
  bool renames; // whether the policy does
};

} // namespace twinjit
