// 256-bit BLAKE3 digests (LLVM's copy of the reference implementation), and what stands for them
// where contents are compared in full.
#pragma once

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/BLAKE3.h"

#include <array>
#include <cstdint>
#include <memory>

namespace twinjit {

using Digest = std::array<uint8_t, 32>;

/// Numbers contents in order of their first appearance: equal numbers, equal bytes. A number takes
/// the place of a digest: it is little-endian in the first bytes, and the others are 0.
class ContentTable {
public:
  static constexpr size_t kNumberSize = 4; // bytes

  Digest of(llvm::ArrayRef<uint8_t> bytes) {
    llvm::StringRef key(reinterpret_cast<const char *>(bytes.data()), bytes.size());
    uint32_t number = numbers.try_emplace(key, numbers.size()).first->second;
    Digest digest = {};
    for (size_t i = 0; i != kNumberSize; ++i)
      digest[i] = static_cast<uint8_t>(number >> (8 * i));
    return digest;
  }

  static uint32_t numberIn(const Digest &digest) {
    uint32_t number = 0;
    for (size_t i = 0; i != kNumberSize; ++i)
      number |= static_cast<uint32_t>(digest[i]) << (8 * i);
    return number;
  }

private:
  llvm::StringMap<uint32_t> numbers;
};

/// BLAKE3-256 over fields, one after the other: a tag is 1 byte, number32 4 bytes and number 8
/// bytes, little-endian; a string is its size in bytes as a number, and the bytes; a digest is 32
/// bytes. Two sequences of the same kinds of fields feed the same bytes only if they are equal;
/// where kinds vary, an earlier field says which follow.
///
/// With a table, nothing is hashed: the "digest" is the number of the bytes in the table.
class FieldHasher {
public:
  explicit FieldHasher(ContentTable *exact = nullptr) : exact(exact) {}

  void tag(uint8_t value) { append(value); }

  void number32(uint32_t value) {
    uint8_t bytes[4];
    for (int i = 0; i != 4; ++i)
      bytes[i] = static_cast<uint8_t>(value >> (8 * i));
    append(bytes);
  }

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

  /// Bytes as they are, which must be delimited within themselves.
  void encoded(llvm::ArrayRef<uint8_t> bytes) { append(bytes); }

  Digest finish() {
    if (exact)
      return exact->of(pending);
    if (!stream)
      return llvm::BLAKE3::hash<32>(pending);
    flush();
    return stream->final<32>();
  }

private:
  void append(llvm::ArrayRef<uint8_t> bytes) {
    if (exact || pending.size() + bytes.size() < kFlushAt) {
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

  ContentTable *exact;
  llvm::SmallVector<uint8_t, 128> pending; // not yet in `stream`
  std::unique_ptr<llvm::BLAKE3> stream;    // null until `pending` has overflowed once
};

} // namespace twinjit
