// Constants that code expects to find outside of its object.
#pragma once

#include "codegen/pages.h"
#include "common/outcome.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringMap.h"

namespace twinjit {

struct Constant {
  std::string name; // the symbol that code refers to
  llvm::StringRef bytes;
  uint64_t alignment = 1; // in bytes, a power of 2, and no more than a page
};

/// Copies of constants, in memory of their own that cannot be written.
class ConstantMemory {
public:
  ConstantMemory() = default;

  /// Fails with Kind::NoMemory.
  static Outcome<ConstantMemory> copy(llvm::ArrayRef<Constant> constants);

  /// Address of a constant; null for a name that none has.
  void *address(llvm::StringRef name) const { return addresses.lookup(name); }

  bool contains(const void *pointer) const { return pages.contains(pointer); }

  /// Mapped memory in bytes.
  size_t size() const { return pages.size(); }

private:
  Pages pages;
  llvm::StringMap<void *> addresses;
};

} // namespace twinjit
