// What the functions of a module take and give, as far as Python can pass it.
#pragma once

#include "llvm/IR/Module.h"

#include <string>
#include <vector>

namespace twinjit::llvmir {

/// A parameter or result; see `Value` in src/twinjit/signature.py.
struct PlainValue {
  std::string kind;  // "scalar", "pointer", "unsupported"
  std::string dtype; // of a scalar
  std::string text;  // the type as LLVM prints it
};

struct PlainSignature {
  std::string name; // as the program has it
  std::vector<PlainValue> arguments;
  std::vector<PlainValue> results; // one, or none
  std::string uncallable;          // why Python cannot call it; empty where it can
  std::string convention;          // how else it is called than C functions are; empty for these
};

/// Those of all functions that a normalised module defines for others, in its order.
std::vector<PlainSignature> signaturesOf(const llvm::Module &module);

/// Names of the functions and variables that a module uses and leaves to others to define, in its
/// order; without those that are not UTF-8, which no library has.
std::vector<std::string> declarations(const llvm::Module &module);

} // namespace twinjit::llvmir
