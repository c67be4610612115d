// Affine maps and sets as fields.
#pragma once

#include "common/digest.h"

#include "mlir/IR/AffineMap.h"
#include "mlir/IR/IntegerSet.h"

namespace twinjit {

void affine(FieldHasher &fields, mlir::AffineMap map);
void affine(FieldHasher &fields, mlir::IntegerSet set);

} // namespace twinjit
