// Code of an object as people read it.
#pragma once

#include "codegen/host.h"

#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <string>
#include <vector>

namespace twinjit::objects {

struct Passage {
  std::string section;
  std::string function; // its symbol; empty for the bytes of the section
  uint64_t offset = 0;  // in the section: what is to be seen
  unsigned lines = 0;   // how many to give at most, most of them before that place
};

/// The instructions of a function around a place, or, where there is no such function, bytes of the
/// section; one a line, by their offsets in function or section, with what relocations put there.
/// Empty where the section is not there. Fails with Kind::Load for a damaged object, and with
/// Kind::Target for a target that is not this process's kind. Its address must be a multiple of 16.
Outcome<std::vector<std::string>> disassemble(llvm::StringRef object, const Target &target,
                                              const Passage &passage);

} // namespace twinjit::objects
