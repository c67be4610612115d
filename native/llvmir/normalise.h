// Brings a module to the one form that all modules with its fingerprint share.
#pragma once

#include "common/outcome.h"
#include "common/policy.h"

#include "llvm/IR/Module.h"

#include <string>
#include <vector>

namespace twinjit::llvmir {

/// A large constant that is a parameter of the program.
struct LargeConstant {
  std::string type;     // as LLVM prints it
  llvm::StringRef data; // as it lies in memory
};

/// Those of a module, in the order of its fingerprint, whose context keeps the data. Fails as
/// fingerprint() does.
Outcome<std::vector<LargeConstant>> largeConstants(const llvm::Module &module,
                                                   const Policy &policy);

/// A large constant that has become an external variable.
struct LiftedConstant {
  std::string name; // of the variable
  std::string type; // as LLVM prints it
  uint64_t size;    // bytes
  uint64_t alignment;
};

/// Change `module` so that modules which are the same under the policy become the same in all that
/// compilation can see, and mean what they will in an object that nothing else is linked to:
///
///   - debug info, names of struct types, metadata whose name says nothing to LLVM, and attachments
///     that do not count are dropped;
///   - what the module defines gets the name programSymbol() (common/symbols.h), or, where its name
///     does not count, one by number: "twinjit.local.0" …;
///   - symbols, named metadata and operands whose order does not count get one order;
///   - large constants that do not count become external variables, "twinjit.constant.0" …;
///   - what other objects could have replaced is final: weak definitions are like all others,
///     linkonce ones internal, comdats gone; what is not defined may be anywhere in memory.
///
/// Orders and numbers are those of the fingerprint; a module that has none keeps its orders, and
/// numbers are those of its listing.
///
/// Returns the lifted constants, in order. Fails where names cannot be changed, or on an alignment
/// that is beyond a page; `module` is spent then.
Outcome<std::vector<LiftedConstant>> normalise(llvm::Module &module, const Policy &policy);

} // namespace twinjit::llvmir
