// Fields that attributes and types have in common.
#pragma once

#include "common/digest.h"

#include "llvm/ADT/APInt.h"

namespace twinjit {

inline void integers(FieldHasher &fields, llvm::ArrayRef<int64_t> values) {
  fields.number(values.size());
  for (int64_t value : values)
    fields.number(static_cast<uint64_t>(value));
}

inline void bits(FieldHasher &fields, const llvm::APInt &value) {
  fields.number(value.getBitWidth());
  for (unsigned i = 0; i != value.getNumWords(); ++i)
    fields.number(value.getRawData()[i]);
}

inline void blob(FieldHasher &fields, llvm::ArrayRef<char> bytes) {
  fields.string({bytes.data(), bytes.size()});
}

} // namespace twinjit
