// Contents of types and attributes. Neither holds identities.
#pragma once

#include "llvmir/contents.h"

#include "llvm/IR/Attributes.h"
#include "llvm/IR/Type.h"

namespace twinjit::llvmir {

class TypeContents {
public:
  explicit TypeContents(Interner &interner) : interner(interner) {}

  /// By structure: names of struct types do not count.
  Ref of(const llvm::Type *type);

  Ref of(llvm::AttributeSet attributes);

private:
  void describe(const llvm::Type *type, Fields &fields);
  void describe(llvm::Attribute attribute, Fields &fields);

  Interner &interner;
  llvm::DenseMap<const llvm::Type *, Ref> types;
  llvm::DenseMap<llvm::AttributeSet, Ref> attributeSets;
};

} // namespace twinjit::llvmir
