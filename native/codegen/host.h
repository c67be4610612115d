// The machine we run on, and the exact builds of the libraries that make code.
#pragma once

#include "common/outcome.h"

#include "llvm/ADT/StringMap.h"

#include <string>
#include <vector>

namespace twinjit {

struct Target {
  std::string triple;
  std::string cpu;
  std::string features; // "+a,+b,-c,…": each applies after those before it
};

/// The instruction sets that LLVM can tell of hosts, and whether this CPU has them. Asked once:
/// CPUID is slow on virtual machines.
const llvm::StringMap<bool> &hostFeatures();

/// The process's own triple, CPU and features, sorted: first all it has, then all it lacks. A
/// feature implies others, and a virtual machine may show it and hide those; what it lacks comes
/// last, so that it counts.
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
