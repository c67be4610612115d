// What others do to have a library's function in a program, to measure against.
#pragma once

#include "library/library.h"

namespace twinjit::library {

/// Imports single functions into empty programs, in one of three ways, each in a context of its own
/// that lasts. Used by one thread at a time.
class Comparison {
public:
  enum class Way {
    Ours,
    Reload, // the module is read for each import, and consumed by IRMover
    Clone,  // the module is kept, and a copy of it consumed by IRMover
  };
  struct Sample {
    double seconds = 0; // of CPU time, from the start to when the program is gone again
    std::string text;   // the program, printed off the clock
  };

  explicit Comparison(const Library &library) : library(library), ours(library.bitcode()) {}

  /// Fails with Kind::Library if the library does not define the function, or cannot be read.
  Outcome<Sample> import(Way way, const std::string &name);

private:
  Outcome<Sample> importOurs(uint32_t file, llvm::StringRef name);
  Outcome<Sample> reload(uint32_t file, llvm::StringRef name);
  Outcome<Sample> clone(uint32_t file, llvm::StringRef name);
  Outcome<llvm::Module *> kept(uint32_t file);

  const Library &library;
  LoadedModules ours;
  llvm::LLVMContext reloading, cloning;
  llvm::DenseMap<uint32_t, std::unique_ptr<llvm::Module>> modules; // to be cloned
};

} // namespace twinjit::library
