// What goes along with a definition of a library.
#pragma once

#include "llvm/IR/Constant.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/GlobalVariable.h"
#include "llvm/IR/Metadata.h"

#include <cstdint>
#include <string>
#include <vector>

namespace twinjit::library {

/// Why a definition cannot be imported.
struct Obstacle {
  std::string reason;
  /// Whether a copy that has nothing to do with the process' own function is possible all the same.
  bool isForProvided = false;
};

/// A definition, and all that only its own module can refer to and that it cannot do without.
/// Globals are in the order of their first use; all live as long as the module.
struct Plan {
  const llvm::GlobalValue *root = nullptr;
  std::vector<const llvm::Function *> functions;       // with bodies
  std::vector<const llvm::GlobalVariable *> variables; // constant, with initialisers
  std::vector<const llvm::GlobalValue *> externals;    // of other units, to be declared
  std::vector<const llvm::Constant *> constants;       // that refer to globals, by others or not
  std::vector<const llvm::MDNode *> distinct;          // without globals: to be shared, not copied
  bool mapsMetadata = false;                           // some refers to values
  uint64_t instructions = 0;                           // of all functions
  uint64_t constantBytes = 0;
  std::vector<Obstacle> obstacles;
};

/// Plan the import of a definition that other modules can refer to. Reads the bodies of functions
/// that have not been read yet.
Plan makePlan(llvm::GlobalValue &root);

} // namespace twinjit::library
