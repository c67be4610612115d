// Object code linked into this process.
#pragma once

#include "codegen/code_memory.h"
#include "codegen/constant_memory.h"
#include "common/outcome.h"

#include "llvm/ADT/StringMap.h"

#include <memory>
#include <string>
#include <vector>

namespace twinjit {

/// One linked object: its mapped memory and the addresses of its entry points. Immutable after
/// load(), so any thread may use it; the destructor unmaps the code, whichever thread drops the
/// last reference, and whoever calls into it must hold a reference meanwhile.
class Image {
public:
  Image(const Image &) = delete;
  Image &operator=(const Image &) = delete;
  ~Image();

  /// Address of an entry point named to load(); null for any other name.
  void *address(llvm::StringRef name) const;

  /// Whether `pointer` lies in this image's memory: code, constants or variables, or constants that
  /// it was linked to.
  bool contains(const void *pointer) const;

  /// Mapped memory in bytes: whole pages. Includes the constants that it was linked to.
  size_t size() const;

  /// Whether the code can stop itself through the runtime (runtime.h): its callers then need a
  /// FailureFrame.
  bool canFail() const { return fails; }

private:
  friend class Link;
  friend Outcome<std::shared_ptr<Image>> load(llvm::StringRef, const std::vector<std::string> &,
                                              llvm::ArrayRef<Constant>);
  Image() = default;

  ConstantMemory constants;
  CodeMemory::FinalizedAlloc memory;
  bool fails = false;
  llvm::StringMap<void *> entries;
};

/// Link relocatable `object` code with JITLink and find the symbols in `entries`.
///
/// External symbols come from copies of `constants`, which live as long as the image; from the
/// process (as dlsym finds them), from libm and libgcc_s, and from Twinjit's own runtime
/// (runtime.h). Links in the caller's thread, without any lock of ours; safe
/// to call from many threads. Does not touch Python.
///
/// The object must have passed its artifact's checksum: JITLink accepts many damaged objects.
Outcome<std::shared_ptr<Image>> load(llvm::StringRef object,
                                     const std::vector<std::string> &entries,
                                     llvm::ArrayRef<Constant> constants = {});

} // namespace twinjit
