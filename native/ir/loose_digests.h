// Digests by which parts of a program are put in order or aligned, not told apart.
#pragma once

#include "ir/identity_attributes.h"
#include "ir/numbering.h"

#include "llvm/ADT/STLFunctionalExtras.h"

namespace twinjit {

/// Digests of blocks and operations with what is nested in them. Equal content gives equal digests;
/// the converse need not hold, since what is outside counts only as far as the caller says.
///
/// Blocks inside are taken in the order of listing.
class LooseDigests {
public:
  /// What to write for a use of a value, or of a block, that is defined outside; the other is null.
  using Outside = llvm::function_ref<uint32_t(mlir::Value, mlir::Block *)>;

  LooseDigests(mlir::MLIRContext *context, Identities &identities)
      : attributes(context, identities) {}

  Digest of(mlir::Block &block, Outside outside);
  Digest of(mlir::Operation &operation, Outside outside);
  Digest of(mlir::Attribute attribute) { return attributes.of(attribute); }

private:
  AttributeDigests attributes;
};

} // namespace twinjit
