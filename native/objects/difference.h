// Where two objects differ.
#pragma once

#include "common/outcome.h"

#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <optional>
#include <string>

namespace twinjit::objects {

/// The first place where two objects differ. Code and data come first, section by section, each
/// with its relocations; then all else, in which they may only seem to be the same.
struct Difference {
  std::string aspect;        // "machine", "sections", "content", "relocations", "symbols", "layout"
  std::string section = {};  // empty where it is in none
  std::string function = {}; // symbol of the function that has the place in either object, or empty
  uint64_t offset = 0;       // in the section
};

/// Nothing for equal bytes. Fails with Kind::Load where one of them cannot be read, and they are
/// not equal. Their addresses must be multiples of 16.
Outcome<std::optional<Difference>> compare(llvm::StringRef a, llvm::StringRef b);

} // namespace twinjit::objects
