// LLVM IR to object code.
#pragma once

#include "codegen/host.h"
#include "common/outcome.h"
#include "common/stop.h"

#include "llvm/ADT/StringRef.h"

#include <string>
#include <vector>

namespace twinjit {

struct Entry {
  std::string name;   // the function, as the program names it
  unsigned arguments; // slots its arguments take
  unsigned results;   // slots its results take
};

struct Emitted {
  std::string object; // a relocatable ELF file
  std::vector<Entry> entries;
  double optimiseSeconds = 0;
  double codegenSeconds = 0;
};

struct EmitOptions {
  Target target;
  unsigned optLevel = 2;            // 0..3, as clang's -O
  std::vector<std::string> entries; // functions to make callable
};

// How Function calls an entry point: through the symbol callSymbol(name), of C type
// void(uint64_t *slots). Arguments stand in `slots` one scalar after another, 8 bytes each; structs
// and arrays (a memref's descriptor, a complex number) are flattened in order of their fields. An
// integer is its low bits, a float the slot's first bytes, a pointer an address. Results are
// written after the arguments in the same way, integers zero-extended.

/// Optimise a module and generate its object code for a target.
///
/// The same bitcode and options give the same bytes: names of values, the module's name and the
/// source file's are dropped first. Works in a context of its own in the caller's thread, touches
/// neither Python nor any shared state, and writes nothing to stderr. Fails as `stop` says where
/// that is requested before the end.
Outcome<Emitted> emit(llvm::StringRef bitcode, const EmitOptions &options, const Stop &stop);

} // namespace twinjit
