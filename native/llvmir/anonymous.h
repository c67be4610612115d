// The symbols of a module whose names do not count under a policy.
#pragma once

#include "common/policy.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/IR/Module.h"

namespace twinjit::llvmir {

/// Symbols that have no name, and under a policy that renames, those that cannot be seen from
/// outside. Names that LLVM reserves count always; so do those that a text has, from where the
/// symbol may be meant: assembly, string attributes, a comdat's name.
class AnonymousSymbols {
public:
  AnonymousSymbols(const llvm::Module &module, const Policy &policy);

  bool contains(const llvm::GlobalValue &symbol) const;

  /// Whether a text has its name. Told under policies that rename only.
  bool isNamedInText(const llvm::GlobalValue &symbol) const { return named.contains(&symbol); }

private:
  void nameIn(const llvm::Module &module);
  void nameIn(const llvm::Function &function);
  void nameIn(llvm::AttributeSet attributes);
  void nameInText(llvm::StringRef text);
  void name(llvm::StringRef name);

  bool renames;
  const llvm::Module &module;
  llvm::DenseSet<const llvm::GlobalValue *> named; // in a text
};

} // namespace twinjit::llvmir
