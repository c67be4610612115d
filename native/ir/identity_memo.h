// Digests of attributes and types, kept for as long as their context lives.
#pragma once

#include "common/digest.h"

#include "mlir/IR/MLIRContext.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringRef.h"

#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>

namespace twinjit {

/// Key, among the builtin dialect's resources, of the entry without data that ties a memo to its
/// context.
inline constexpr llvm::StringLiteral kMemoResource = "twinjit.memo";

/// Hashes addresses so that neighbours in memory are neighbours in the table: operations,
/// attributes and types are allocated one after the other, and used so. LLVM's own hash scatters
/// them, at a cache miss for each look-up.
struct ByAddress {
  static const void *getEmptyKey() { return llvm::DenseMapInfo<const void *>::getEmptyKey(); }
  static const void *getTombstoneKey() {
    return llvm::DenseMapInfo<const void *>::getTombstoneKey();
  }
  static unsigned getHashValue(const void *key) {
    auto address = reinterpret_cast<uintptr_t>(key);
    return static_cast<unsigned>((address >> 4) ^ (address >> 14));
  }
  static bool isEqual(const void *a, const void *b) { return a == b; }
};

/// Maps uniqued attributes and types of one context to their digests. A context never frees these
/// while it lives and takes its memo with it, so a recycled pointer cannot hit. Any number of
/// threads may use it. What it holds does not depend on a policy.
class DigestMemo {
public:
  /// The memo of `context`, made on first use. Loads no dialect: that would abort the process if a
  /// pass manager runs in the context.
  static std::shared_ptr<DigestMemo> of(mlir::MLIRContext *context);

  /// Bytes of the heap that the memo of `context` has; 0 where none was made.
  static size_t bytesOf(mlir::MLIRContext *context);

  struct Entry {
    Digest digest;
    /// Whether symbols are named in it, whose names some policies do not count.
    bool namesSymbols;
  };

  std::optional<Entry> find(const void *key) const {
    std::shared_lock<std::shared_mutex> lock(mutex);
    auto found = entries.find(key);
    if (found == entries.end())
      return std::nullopt;
    return found->second;
  }

  void store(const void *key, const Entry &entry) {
    std::unique_lock<std::shared_mutex> lock(mutex);
    entries.try_emplace(key, entry);
  }

private:
  /// Guards `entries`. Held for one look-up or insertion; digests are computed outside it, at worst
  /// by several threads at once and to the same result.
  mutable std::shared_mutex mutex;
  llvm::DenseMap<const void *, Entry, ByAddress> entries;
};

} // namespace twinjit
