// The machine we run on, and the exact builds of the libraries that make code.
#pragma once

#include "common/outcome.h"

#include <string>
#include <vector>

namespace twinjit {

struct Target {
  std::string triple;
  std::string cpu;
  std::string features; // "+a,-b,…", sorted by name: every feature LLVM knows, present or not
};

/// The process's own triple, CPU and features.
Target hostTarget();

struct Library {
  std::string name; // "libLLVM", "libMLIR", "_llvm", "_mlir"
  std::string path;
  std::string identity; // GNU build ID in hex, else "blake3:" and the digest of the file
};

/// The libraries whose code decides what a compilation gives, whether loaded yet or not.
Outcome<std::vector<Library>> toolchain();

/// Identity of one ELF file: its GNU build ID, or the BLAKE3 digest of its content where the linker
/// wrote none. Fails with Kind::Load when the file cannot be read.
Outcome<std::string> libraryIdentity(const std::string &path);

/// Path of the shared object that contains `address`; empty when there is none.
std::string libraryOf(const void *address);

} // namespace twinjit
