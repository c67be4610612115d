// Whether LLVM modules are the same program.
#pragma once

#include "common/digest.h"
#include "common/outcome.h"
#include "common/policy.h"

#include "llvm/IR/Module.h"

namespace twinjit::llvmir {

/// Fingerprint `module`: equal for modules that are equivalent(), the same in every context,
/// process and machine. `domain` tells apart fingerprints that must not be compared. Fails with
/// Kind::Unfingerprintable on what has no identity, naming it.
///
/// What counts is what reaches code, and the policy's choice. These never do: names of local
/// values, blocks and struct types, numbers of metadata and attribute groups, orders of use lists,
/// of attachments of metadata and of named metadata, comdats that nothing uses, the module's
/// identifier, and, unless the policy keeps locations, the name of its source file. The order in
/// which blocks are listed counts: LLVM lays code out by it, and visits blocks in that order.
Outcome<Digest> fingerprint(const llvm::Module &module, const Policy &policy,
                            llvm::StringRef domain);

/// Whether two modules are the same program. Compares what fingerprint() hashes, byte by byte.
Outcome<bool> equivalent(const llvm::Module &a, const llvm::Module &b, const Policy &policy);

} // namespace twinjit::llvmir
