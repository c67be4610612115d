// An order of symbols that does not depend on how a program lists them.
#pragma once

#include "ir/policy_attributes.h"
#include "ir/walk.h"

namespace twinjit {

/// Settle the order of the operations in modules, where the policy ignores their listing: those
/// without a name as they are listed; then those whose names count, by name; then the others, as
/// they are first referred to; then what is referred to by none, by content.
void orderSymbols(mlir::Operation *root, const PolicyAttributes &filter, VisitOrder &order);

} // namespace twinjit
