// How an outline shows a program to people.
#pragma once

#include "mlir/IR/AsmState.h"
#include "mlir/IR/Operation.h"

#include <string>

namespace twinjit {

/// Where something was written, as file:line:column; empty where that is unknown.
std::string placeOf(mlir::Location location);

class OutlineText {
public:
  explicit OutlineText(mlir::Operation *root);

  /// Values and blocks by the names that MLIR prints in the program.
  std::string of(mlir::Value value);
  std::string of(mlir::Block &block);

  /// Attributes and types in full, up to a length that nobody reads.
  std::string of(mlir::Attribute attribute);
  std::string of(mlir::Type type);

private:
  mlir::AsmState names;
  mlir::AsmState plain; // knows of no program, and so of no aliases
};

} // namespace twinjit
