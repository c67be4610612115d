// gdb's JIT interface: a list of ELF files in memory, and a function that it stops at.
#pragma once

#include "llvm/ADT/StringRef.h"

#include <memory>
#include <string>

struct jit_code_entry;

namespace twinjit {

/// One file in the list, until this is destroyed. Whoever makes or destroys one holds the lock of
/// announcement.cpp.
///
/// The list is libLLVM's, for there should be one in a process: lldb looks at the first that it
/// finds. MLIR's ExecutionEngine has a lock of its own around it, which nobody else can take: with
/// gdb on, no other thread may make or drop one meanwhile.
class GdbEntry {
public:
  explicit GdbEntry(std::string object);
  ~GdbEntry();
  GdbEntry(const GdbEntry &) = delete;
  GdbEntry &operator=(const GdbEntry &) = delete;

private:
  std::string object;
  std::unique_ptr<jit_code_entry> entry;
};

} // namespace twinjit
