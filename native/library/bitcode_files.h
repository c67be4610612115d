// The files of a library, and where it defines what.
#pragma once

#include "common/digest.h"
#include "common/outcome.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/Support/MemoryBufferRef.h"

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace twinjit::library {

/// Bitcode as it was when the library was opened, in the order in which it is searched. Not changed
/// once it is searched; any number of threads may read it.
class BitcodeFiles {
public:
  /// Fails with Kind::Library if `bytes` are no bitcode.
  Outcome<bool> add(std::string name, std::string bytes);

  size_t size() const { return files.size(); }
  llvm::StringRef name(uint32_t file) const { return files[file].name; }
  llvm::MemoryBufferRef buffer(uint32_t file) const {
    return {files[file].bytes, files[file].name};
  }

  /// Of all bytes, in order. Names of files do not count.
  Digest identity() const;

private:
  struct File {
    std::string name; // for messages; of a summary index, the path in it
    std::string bytes;
  };
  std::vector<File> files;
};

/// Paths of the modules that a ThinLTO summary index is about, in the order in which they are
/// searched. Fails with Kind::Library.
Outcome<std::vector<std::string>> summarisedModules(llvm::StringRef index);

/// Which file defines an externally visible name; of several the first. Any number of threads may
/// use one.
class NameIndex {
public:
  /// By a ThinLTO summary index, without opening a module. The number of a file is that of its path
  /// among summarisedModules(). The index is read when the first name is looked up, which takes
  /// longer than to open a library.
  NameIndex(std::string summary, size_t files);

  /// By the symbols of all modules. Fails with Kind::Library.
  static Outcome<NameIndex> scan(const BitcodeFiles &files);

  /// Fails with Kind::Library if the summary index cannot be read.
  Outcome<std::optional<uint32_t>> fileOf(llvm::StringRef name) const;

private:
  struct State {
    std::once_flag once; // runs read(); the rest changes nowhere else
    std::string summary; // empty without one, or once it is read
    size_t opened = 0;   // files that were opened by the summary
    std::optional<Failure> failure;
    // By the names' GUIDs, of 64 bits: whoever opens the module sees whether it has the name
    // itself.
    std::unordered_map<uint64_t, uint32_t> files;

    void read();
  };
  NameIndex() : state(std::make_unique<State>()) {}

  std::unique_ptr<State> state;
};

/// The functions that files define for others, sorted. Fails with Kind::Library.
Outcome<std::vector<std::string>> definedFunctions(const BitcodeFiles &files);

/// A failure to read a file, with who wrote it.
Failure unreadable(llvm::MemoryBufferRef buffer, const std::string &why);

} // namespace twinjit::library
