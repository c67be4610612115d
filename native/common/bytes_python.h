// Bytes as Python has them. Needs the GIL.
#pragma once

#include "common/digest.h"

#include "llvm/ADT/StringRef.h"

#include <nanobind/nanobind.h>

namespace twinjit {

inline nanobind::bytes toBytes(llvm::StringRef data) {
  return nanobind::bytes(data.data(), data.size());
}

inline nanobind::bytes toBytes(const Digest &digest) {
  return nanobind::bytes(digest.data(), digest.size());
}

/// By reference: a copy would count references, which needs the GIL where the view does not.
inline llvm::StringRef view(const nanobind::bytes &data) { return {data.c_str(), data.size()}; }

} // namespace twinjit
