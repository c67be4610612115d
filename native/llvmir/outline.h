// An LLVM module as a tree of nodes to compare.
#pragma once

#include "common/outcome.h"
#include "common/outline.h"
#include "common/policy.h"

#include "llvm/IR/Module.h"

namespace twinjit::llvmir {

/// Write down what fingerprint() hashes. Modules are equivalent exactly if their outlines are the
/// same in all but `text`, `location`, and what identities are called. Only nodes right below the
/// module have digests.
Outcome<std::vector<OutlineRecord>> outline(const llvm::Module &module, const Policy &policy);

} // namespace twinjit::llvmir
