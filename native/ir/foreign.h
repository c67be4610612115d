// Programs that another build of MLIR wrote, whose dialects and operations need not be those here.
#pragma once

#include "ir/program.h"

#include <string>
#include <vector>

namespace twinjit {

/// What a program has that no dialect of this MLIR knows, sorted.
struct Unknown {
  std::vector<std::string> operations; // names
  std::vector<std::string> dialects;   // namespaces of attributes and types
  std::vector<std::string> properties; // of operations that it knows without: "operation property"
  // Attributes and types, as printed, that refer to something outside of their text: an alias, a
  // resource, a distinct attribute. MLIR keeps no more than the text, so they have no identity.
  std::vector<std::string> references;
};

Unknown findUnknown(mlir::Operation *root);

/// Parse and verify generic text that another build of MLIR printed; unregistered operations are
/// accepted. Parsing skips properties that an operation does not have here, and may have had there:
/// these are kept as discardable attributes, so that they are part of the program's identity. Looks
/// at `stop` as Program::parse() does.
Outcome<Program> parseForeign(llvm::StringRef source, llvm::StringRef name, const Stop &stop);

} // namespace twinjit
