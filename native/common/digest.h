// 256-bit BLAKE3 digests (LLVM's copy of the reference implementation).
#pragma once

#include "llvm/Support/BLAKE3.h"

#include <array>
#include <cstdint>

namespace twinjit {

using Digest = std::array<uint8_t, 32>;

/// BLAKE3 over tagged, length-prefixed fields, so that no two sequences of fields feed it the same
/// bytes. Integers are little-endian.
class FieldHasher {
public:
  void tag(uint8_t value) { hasher.update(llvm::ArrayRef<uint8_t>(&value, 1)); }

  void number(uint64_t value) {
    uint8_t bytes[8];
    for (int i = 0; i != 8; ++i)
      bytes[i] = static_cast<uint8_t>(value >> (8 * i));
    hasher.update(bytes);
  }

  void string(llvm::StringRef text) {
    number(text.size());
    hasher.update(text);
  }

  void digest(const Digest &value) { hasher.update(llvm::ArrayRef<uint8_t>(value)); }

  Digest finish() { return hasher.final<32>(); }

private:
  llvm::BLAKE3 hasher;
};

} // namespace twinjit
