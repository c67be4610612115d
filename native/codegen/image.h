// Object code linked into this process.
#pragma once

#include "codegen/announcement.h"
#include "codegen/code_memory.h"
#include "codegen/constant_memory.h"
#include "common/outcome.h"

#include "llvm/ADT/StringMap.h"

#include <memory>
#include <string>
#include <vector>

namespace twinjit {

struct LinkOptions {
  std::vector<std::string> entries = {};          // symbols that the object must define
  std::vector<std::string> exports = {};          // symbols to find where it defines them
  llvm::ArrayRef<Constant> constants = {};        // by the symbols that it refers to
  const llvm::StringMap<void *> *given = nullptr; // addresses of symbols, or null for none
  llvm::StringRef digest = {};                    // tells programs apart: see Announcement
};

/// One linked object: its mapped memory and the addresses of its entry points. Immutable after
/// load(), so any thread may use it; the destructor unmaps the code, whichever thread drops the
/// last reference, and whoever calls into it must hold a reference meanwhile.
class Image {
public:
  Image(const Image &) = delete;
  Image &operator=(const Image &) = delete;
  ~Image();

  /// Address of a symbol that load() was to find; null for any other name.
  void *address(llvm::StringRef name) const;

  /// Whether `pointer` lies in this image's memory: code, constants or variables, or constants that
  /// it was linked to.
  bool contains(const void *pointer) const;

  /// Mapped memory in bytes: whole pages. Includes the constants that it was linked to.
  size_t size() const;

  /// Whether the code can stop itself through the runtime (runtime.h), or call lazy functions,
  /// whose compilation may fail: its callers then need a FailureFrame.
  bool canFail() const { return fails; }

  /// What went wrong when perf was told of the code; empty for nothing, or no more than before.
  std::string perfTrouble() const { return announcement ? announcement->trouble() : ""; }

private:
  friend class Link;
  friend Outcome<std::shared_ptr<Image>> load(llvm::StringRef, const LinkOptions &);
  Image() = default;

  ConstantMemory constants;
  CodeMemory::FinalizedAlloc memory;
  bool fails = false;
  llvm::StringMap<void *> entries;
  std::unique_ptr<Announcement> announcement; // null where nobody is told
};

/// Link relocatable `object` code with JITLink and find the symbols that it is to have.
///
/// External symbols come from `given`; from copies of `constants`, which live as long as the image;
/// from the process (as dlsym finds them), from libm and libgcc_s, and from Twinjit's own runtime
/// (runtime.h), in this order but for the runtime's, which come before the process's. Links in the
/// caller's thread, without any lock of ours; safe to call from many threads. Does not touch
/// Python.
///
/// The object must have passed its artifact's checksum: JITLink accepts many damaged objects.
Outcome<std::shared_ptr<Image>> load(llvm::StringRef object, const LinkOptions &options);

} // namespace twinjit
