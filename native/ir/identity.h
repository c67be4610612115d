// What a program is, independent of the MLIRContext, the process or the machine that built it:
// its fingerprint, and whether two are the same.
#pragma once

#include "common/digest.h"
#include "common/outcome.h"
#include "common/policy.h"
#include "common/stop.h"

#include "mlir/IR/Operation.h"

namespace twinjit {

/// Fingerprint `root` and everything nested in it, as far as it counts under `policy`.
///
/// `domain` tells programs apart that cannot be compared, because they hold what only another build
/// of MLIR knows; empty for none.
///
/// A `root` that is not a builtin.module is fingerprinted as the module that would hold it alone;
/// values that it uses from outside are like parameters: they have a type, and an order of first
/// use. Never modifies the program. Interns attributes in its context (an operation's properties
/// have no other portable form) and keeps digests there for the next call; hence it must not run
/// while another thread mutates the program (the bytes of its resources and the bodies of its
/// struct types included) or, in a context with multithreading disabled, uses the context at all.
/// Loads no dialect, so passes may run in the context meanwhile, on other programs.
///
/// Fails with Kind::Unfingerprintable on what has no content to hash (a resource without data, a
/// successor outside of `root`), naming it; and as `stop` says where that is requested.
Outcome<Digest> fingerprint(mlir::Operation *root, const Policy &policy,
                            llvm::StringRef domain = "", const Stop &stop = neverStop);

/// Whether two programs, of any contexts, are the same under `policy`: exactly if their
/// fingerprints are equal, but by comparing all contents, with no digest and nothing remembered in
/// between.
///
/// The rules of fingerprint() hold for both.
Outcome<bool> equivalent(mlir::Operation *a, mlir::Operation *b, const Policy &policy);

} // namespace twinjit
