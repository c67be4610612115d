// An MLIR program as a tree of nodes to compare.
#pragma once

#include "common/outcome.h"
#include "common/outline.h"
#include "common/policy.h"

#include "mlir/IR/Operation.h"

namespace twinjit {

/// Write down what fingerprint() hashes. A `root` that is no builtin.module is written as it is.
///
/// Two programs are equivalent exactly if their outlines are the same in all but texts, locations,
/// and what identities are called, save for distinct attributes that only their dialect's printer
/// can see. Operations right below the root have digests, unless they refer to identities outside.
///
/// The rules of fingerprint() hold; it fails where that does.
Outcome<std::vector<OutlineRecord>> outline(mlir::Operation *root, const Policy &policy);

} // namespace twinjit
