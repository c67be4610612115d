// What counts as the same program, as src/twinjit/policy.py defines it.
#pragma once

#include "common/outcome.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/StringSet.h"

#include <cstdint>
#include <optional>
#include <string>

namespace twinjit {

/// Each member merges more programs when it is set.
struct Policy {
  /// Read the text of a policy, which is taken to be canonical. Fails with Kind::Policy where a
  /// setting is missing or has another word.
  static Outcome<Policy> parse(llvm::StringRef text);

  bool ignoresDiscardable(llvm::StringRef name) const {
    return ignoreAllDiscardable || ignoredDiscardable.contains(name);
  }
  bool ignoresSomeDiscardable() const {
    return ignoreAllDiscardable || !ignoredDiscardable.empty();
  }

  bool ignoreLocations = true;
  bool renamePrivateSymbols = false;
  bool ignoreSymbolOrder = false;
  bool ignoreAllDiscardable = false;
  llvm::StringSet<> ignoredDiscardable; // by name, where not all are
  bool ignoreOperandOrder = false;      // of commutative operations
  bool ignoreModuleName = false;
  std::optional<uint64_t> liftFrom; // bytes from which a constant is a parameter

  /// Canonical text. Part of every fingerprint.
  std::string text;
};

} // namespace twinjit
