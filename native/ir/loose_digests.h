// Digests by which parts of a program are put in order or aligned, not told apart.
#pragma once

#include "ir/identity_attributes.h"
#include "ir/numbering.h"
#include "ir/policy_attributes.h"

#include "llvm/ADT/STLFunctionalExtras.h"

namespace twinjit {

/// Digests of blocks and operations with what is nested in them, as far as it counts under a
/// policy. Equal content gives equal digests; the converse need not hold, since identities that
/// depend on an order (of symbols, of distinct attributes) are left out, and what is outside counts
/// only as far as the caller says.
///
/// Blocks inside that cannot be reached are put in order by such digests, too, so many regions
/// deep; further in, they are taken in the order of listing.
class LooseDigests {
public:
  /// How deep they are put in order; each level is walked once more for it.
  static constexpr unsigned kLevels = 8;

  /// The number of a value, or of a block, that is known where the digest is taken.
  using Known = llvm::function_ref<std::optional<uint32_t>(mlir::Value, mlir::Block *)>;

  /// What to write for a use of a value, or of a block, that is defined outside; the other is null.
  using Outside = llvm::function_ref<uint32_t(mlir::Value, mlir::Block *)>;

  /// Of what stands in `symbolTable`.
  LooseDigests(const PolicyAttributes &filter, mlir::MLIRContext *context,
               mlir::Operation *symbolTable)
      : filter(filter), identities(filter.symbols, symbolTable), attributes(context, identities) {}

  /// `known` is asked for what blocks inside refer to while they are put in order, of which
  /// `outside` hears nothing.
  Digest of(mlir::Block &block, Outside outside, Known known, unsigned level);

  /// The operation's name as a symbol left out.
  Digest ofSymbol(mlir::Operation &operation);

private:
  friend struct DigestAll;

  class Nameless final : public Identities {
  public:
    Nameless(const RenamedSymbols &renamed, mlir::Operation *symbolTable)
        : renamed(renamed), tables({symbolTable}) {}

    llvm::SmallVector<std::optional<uint32_t>, 2> symbols(mlir::SymbolRefAttr reference) override;
    bool renamesSymbols() const override { return !renamed.empty(); }
    std::optional<uint32_t> distinct(mlir::DistinctAttr) override { return 0; }

    const RenamedSymbols &renamed;
    llvm::SmallVector<mlir::Operation *> tables; // around what is walked
  };

  const PolicyAttributes &filter;
  Nameless identities;
  AttributeDigests attributes;
};

} // namespace twinjit
