// 256-bit BLAKE3 digests (LLVM's copy of the reference implementation).
#pragma once

#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/BLAKE3.h"

#include <array>
#include <cstdint>
#include <memory>

namespace twinjit {

using Digest = std::array<uint8_t, 32>;

/// BLAKE3 over tagged, length-prefixed fields, so that no two sequences of fields feed it the same
/// bytes. Integers are little-endian.
class FieldHasher {
public:
  void tag(uint8_t value) { append(value); }

  void number(uint64_t value) {
    uint8_t bytes[8];
    for (int i = 0; i != 8; ++i)
      bytes[i] = static_cast<uint8_t>(value >> (8 * i));
    append(bytes);
  }

  void string(llvm::StringRef text) {
    number(text.size());
    append({text.bytes_begin(), text.size()});
  }

  void digest(const Digest &value) { append(value); }

  /// Bytes that are delimited within themselves.
  void encoded(llvm::ArrayRef<uint8_t> bytes) { append(bytes); }

  Digest finish() {
    if (!stream)
      return llvm::BLAKE3::hash<32>(pending);
    flush();
    return stream->final<32>();
  }

private:
  void append(llvm::ArrayRef<uint8_t> bytes) {
    if (pending.size() + bytes.size() < kFlushAt) {
      pending.append(bytes.begin(), bytes.end());
      return;
    }
    size_t fits = kFlushAt - pending.size();
    pending.append(bytes.begin(), bytes.begin() + fits);
    flush();
    bytes = bytes.drop_front(fits);
    size_t whole = bytes.size() - bytes.size() % kFlushAt;
    stream->update(bytes.take_front(whole));
    pending.append(bytes.begin() + whole, bytes.end());
  }

  void flush() {
    if (!stream)
      stream = std::make_unique<llvm::BLAKE3>();
    stream->update(pending);
    pending.clear();
  }

  // BLAKE3 hashes up to 16 whole chunks of 1 KiB at once, and is slow in small or odd steps.
  static constexpr size_t kFlushAt = 16384;

  llvm::SmallVector<uint8_t, 128> pending; // not yet in `stream`
  std::unique_ptr<llvm::BLAKE3> stream;    // null until `pending` has overflowed once
};

} // namespace twinjit
