// Where a module differs from the one form that all modules with its fingerprint share.
#pragma once

#include "common/outcome.h"
#include "common/policy.h"

#include "llvm/IR/Module.h"

namespace twinjit::llvmir {

struct LeftOut {
  const llvm::Value *owner; // a symbol or an instruction
  unsigned kind;
  const llvm::MDNode *node;
};

/// All lists are in the order of the fingerprint.
struct CanonicalForm {
  llvm::SmallVector<const llvm::GlobalValue *, 0> symbols;
  llvm::SmallVector<const llvm::GlobalValue *, 0> anonymous; // those whose name does not count
  llvm::SmallVector<const llvm::User *, 0> swapped; // their first two operands, inner ones first
  llvm::SmallVector<LeftOut, 0> attachments;        // that do not count
  llvm::SmallVector<const llvm::GlobalVariable *, 0> lifted; // whose initialisers do not count
};

/// Find it by the walk that writes the fingerprint, so that the two cannot disagree. Fails as
/// fingerprint() does.
Outcome<CanonicalForm> canonicalForm(const llvm::Module &module, const Policy &policy);

} // namespace twinjit::llvmir
