// The fingerprint: a digest of a program's structure that does not depend on the MLIRContext,
// the process or the machine that built it.
#pragma once

#include "common/digest.h"
#include "common/outcome.h"

#include "mlir/IR/Operation.h"

namespace twinjit {

/// Fingerprint `root` and everything nested in it, strictly: whatever can reach the code counts.
/// Only locations and the names of values and blocks do not; the order of operands, operations and
/// blocks does.
///
/// A `root` that is not a builtin.module is fingerprinted as the module that would hold it alone.
/// Never modifies the program. Interns attributes in its context (an operation's properties have no
/// other portable form) and keeps digests there for the next call; hence it must not run while
/// another thread mutates the program (the bytes of its resources and the bodies of its struct
/// types included) or, in a context with multithreading disabled, uses the context at all. Loads no
/// dialect, so passes may run in the context meanwhile, on other programs.
///
/// Fails with Kind::Unfingerprintable on what has no content to hash (a resource without data, a
/// value defined outside of `root`), naming it.
Outcome<Digest> fingerprint(mlir::Operation *root);

} // namespace twinjit
