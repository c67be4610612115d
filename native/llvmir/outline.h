// An LLVM module as a tree of nodes to compare; the records of src/twinjit/outline.py.
#pragma once

#include "common/digest.h"
#include "common/outcome.h"
#include "common/policy.h"

#include "llvm/IR/Module.h"

#include <string>
#include <vector>

namespace twinjit::llvmir {

struct OutlineField {
  std::string name;
  Digest digest;
  std::string text;
  std::vector<uint64_t> references;
};

struct OutlineRecord {
  unsigned depth;
  llvm::StringRef kind; // a literal
  std::string label;
  std::string symbol;
  std::string location;
  std::optional<Digest> digest; // none where the node depends on what is outside of it
  std::vector<OutlineField> fields;
  std::vector<std::pair<uint64_t, std::string>> defines;
};

/// Write down what fingerprint() hashes. Modules are equivalent exactly if their outlines are the
/// same in all but `text`, `location`, and what identities are called. Only nodes right below the
/// module have digests.
Outcome<std::vector<OutlineRecord>> outline(const llvm::Module &module, const Policy &policy);

} // namespace twinjit::llvmir
