// Who is told about code that is linked into this process: perf and gdb, where the user wants it.
#pragma once

#include "codegen/observed_code.h"

#include <memory>
#include <string>

namespace twinjit {

class GdbEntry;

struct Profilers {
  bool perfMap = false;
  bool jitDump = false;
  bool gdb = false;
};

/// Tell these, too, from now on, of all code that is linked; once wanted, always wanted, as the
/// process has one file for each. `jitDumpBase` is where JitDump makes its directory.
void tellProfilers(const Profilers &profilers, const std::string &jitDumpBase);

/// What they know of one image. Destroy it before its memory is unmapped.
///
/// In a forked child, files are begun anew with all that the child still has of its parent's code,
/// when it links code for the first time.
class Announcement {
public:
  /// Null where nobody is to be told, which costs a nanosecond. The addresses in `graph` are final.
  static std::unique_ptr<Announcement> prepare(llvm::jitlink::LinkGraph &graph);

  /// Tell of code that is in place. `digest` tells programs apart whose functions have the same
  /// names: profiles show its first 4 bytes in hexadecimal, NAME@DIGITS; it may be empty.
  void publish(llvm::StringRef object, llvm::StringRef digest);

  ~Announcement();

  /// What went wrong here, for the first time in the process; empty for nothing.
  const std::string &trouble() const { return whatFailed; }

private:
  friend class Files;
  explicit Announcement(ObservedCode code);

  ObservedCode code;
  std::string suffix;
  std::unique_ptr<GdbEntry> gdb;
  std::string whatFailed;
};

} // namespace twinjit
