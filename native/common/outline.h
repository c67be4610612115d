// A program as a tree of nodes to compare: the records of src/twinjit/outline.py.
#pragma once

#include "common/digest.h"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace twinjit {

/// A text without what nobody reads to: cut, at a character's start, with its size in bytes.
inline std::string shortened(std::string text) {
  constexpr size_t kLongest = 64 * 1024;
  if (text.size() <= kLongest)
    return text;
  size_t end = kLongest;
  while (end != 0 && (static_cast<uint8_t>(text[end]) & 0xC0) == 0x80)
    --end;
  return text.substr(0, end) + "… (" + std::to_string(text.size()) + " bytes)";
}

struct OutlineField {
  std::string name;
  Digest digest;
  std::string text;
  std::vector<uint64_t> references = {};
};

struct OutlineRecord {
  uint64_t depth;
  llvm::StringRef kind; // a literal
  std::string label;
  std::string symbol;
  std::string location;
  std::optional<Digest> digest = {}; // none where the node depends on what is outside of it
  std::vector<OutlineField> fields = {};
  std::vector<std::pair<uint64_t, std::string>> defines = {};
};

} // namespace twinjit
