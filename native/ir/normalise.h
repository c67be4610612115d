// Brings a program to the one form that all programs with its fingerprint share.
#pragma once

#include "common/outcome.h"
#include "common/policy.h"
#include "common/stop.h"

#include "mlir/IR/BuiltinOps.h"

#include <string>
#include <vector>

namespace twinjit {

/// A large constant that has become an external variable of the program.
struct LiftedConstant {
  std::string name; // of the variable
  std::string type; // of the elements, as MLIR prints it
  uint64_t size;    // bytes
  uint64_t alignment;
  std::string place; // for people: the function it is in
};

/// Change `module` so that programs which are the same under the policy become the same in all that
/// compilation can see:
///
///   - locations and names of modules that do not count are dropped, and so are attributes;
///   - symbols whose names do not count get names by number: "local.0" …;
///   - resources get keys by number, "resource.0" …, one for all of the same bytes;
///   - blocks, symbols and operands whose order does not count get one order, and so do the users
///     of each value and block, in which passes come across them;
///   - large constants that do not count become reads of external variables, "constant.0" …, whose
///     content code finds when it is linked.
///
/// Numbers and orders are those of the fingerprint. A program that has none loses the locations
/// only.
///
/// Returns the lifted constants, in order. Fails on operations that do not take their own
/// attributes back, and as `stop` says where that is requested; `module` is spent then.
Outcome<std::vector<LiftedConstant>> normalise(mlir::ModuleOp module, const Policy &policy,
                                               const Stop &stop);

/// Set all locations to the unknown one.
void dropLocations(mlir::ModuleOp module);

} // namespace twinjit
