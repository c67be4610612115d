// Contents of constants.
#pragma once

#include "common/policy.h"
#include "llvmir/anonymous.h"
#include "llvmir/types.h"

#include "llvm/IR/Constants.h"
#include "llvm/IR/GlobalVariable.h"
#include "llvm/Support/Allocator.h"

namespace twinjit::llvmir {

/// Puts identities in an order that does not depend on how a program is spelled.
using Ranks = llvm::DenseMap<Identity, Ref>;

class ConstantContents {
public:
  /// `ranks` orders operands of commutative expressions that differ in their identities alone.
  ConstantContents(Interner &interner, const Policy &policy, const AnonymousSymbols &anonymous,
                   const Ranks &ranks, TypeContents &types)
      : interner(interner), policy(policy), anonymous(anonymous), ranks(ranks), types(types) {}

  /// A symbol's is a reference to it.
  const Content &of(const llvm::Constant *constant);

  /// Keep a content for as long as this lives.
  Content keep(const Fields &fields);

  /// Orders fields as the operands of a commutative operation: equal for equal contents.
  std::string sortKey(const Fields &fields) const;

  /// Why contents given out are void; empty while all are good.
  std::string problem;

  /// Expressions whose two operands are told in the other order, inner ones first.
  std::vector<const llvm::ConstantExpr *> swapped;

private:
  void describe(const llvm::Constant *constant, Fields &fields);
  void describeSymbol(const llvm::GlobalValue &symbol, Fields &fields);
  void describeData(const llvm::ConstantDataSequential &data, Fields &fields);
  void describeExpression(const llvm::ConstantExpr &expression, Fields &fields);
  void describeOperands(const llvm::Constant &constant, Fields &fields);
  uint64_t indexOf(const llvm::BasicBlock &block);

  Interner &interner;
  const Policy &policy;
  const AnonymousSymbols &anonymous;
  const Ranks &ranks;
  TypeContents &types;
  llvm::DenseMap<const llvm::Constant *, Content> contents;
  llvm::DenseMap<const llvm::BasicBlock *, uint64_t> blocks; // of functions with a block address
  llvm::BumpPtrAllocator identities;
};

} // namespace twinjit::llvmir
