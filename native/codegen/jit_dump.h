// jit-PID.dump: code with its bytes and times, from which `perf inject --jit` makes ELF files.
#pragma once

#include "codegen/observed_code.h"
#include "common/private_file.h"

#include <string>

namespace twinjit {

// Numbers are of this machine's byte order, times of CLOCK_MONOTONIC in nanoseconds. As of
// tools/perf/Documentation/jitdump-specification.txt in Linux:
//   file     = header record*
//   header   = u32 0x4A695444, u32 version 1, u32 size 40, u32 ELF machine, u32 0, u32 pid,
//              u64 time, u64 flags 0
//   record   = u32 id, u32 size with all of this, u64 time, body
//   load (0) = u32 pid, u32 tid, u64 address, u64 address, u64 code size, u64 index,
//              name \0, code
//   close (3) = nothing
// There is no record of unloading: whatever is loaded later in the same place replaces it.

/// Not safe for threads by itself.
class JitDump {
public:
  ~JitDump() { close(); }

  bool isOpen() const { return file.isOpen(); }

  /// Make this process's file in a new directory below BASE/.debug/jit, where perf's own tools
  /// look, and map its first page executable, by which perf finds it. Says what is wrong, if
  /// anything is.
  std::string open(const std::string &base);

  /// Functions whose code is in place. Says what is wrong, if anything is.
  std::string add(const std::vector<ObservedFunction> &functions, llvm::StringRef suffix);

  /// Write that there is no more.
  void finish();

  void close();

private:
  std::string makeDirectory(const std::string &base);
  std::string mark();

  PrivateFile file;
  std::string path;
  void *marker = nullptr; // a page; null where there is none
  uint64_t nextIndex = 0;
};

} // namespace twinjit
