// A linked object as profilers and debuggers are told about it.
#pragma once

#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace llvm::jitlink {
class LinkGraph;
}

namespace twinjit {

struct ObservedFunction {
  std::string name; // as in the program, also for what Function calls
  uint64_t address;
  uint64_t size; // bytes; not 0
};

struct ObservedCode {
  std::vector<ObservedFunction> functions; // by address
  llvm::StringMap<uint64_t> sections;      // addresses by name

  /// Of a graph whose addresses are final.
  explicit ObservedCode(llvm::jitlink::LinkGraph &graph);
};

/// A copy of a relocatable ELF `object` that tells where its sections went, and calls functions as
/// the program does. None for what is no 64-bit ELF file of this machine's byte order.
std::optional<std::string> placedObject(llvm::StringRef object,
                                        const llvm::StringMap<uint64_t> &sections);

} // namespace twinjit
