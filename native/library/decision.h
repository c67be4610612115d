// Which functions of a library are imported, and why.
#pragma once

#include "common/digest.h"
#include "common/outcome.h"
#include "library/plan.h"

#include "llvm/ADT/STLFunctionalExtras.h"

#include <optional>
#include <string>
#include <vector>

namespace twinjit::library {

/// Limits for what is imported where the process defines the library's functions.
struct ImportPolicy {
  double maxInstructions = 0; // of a function that the program calls, constants counted in
  double decay = 0;           // of that limit, for what such a function calls, and so on
  double constantBytes = 0;   // of constants that cost as much as an instruction
};

/// What is known of a definition, in whatever context it was read.
struct Facts {
  std::string file;
  bool isFunction = true;
  uint64_t instructions = 0;
  uint64_t constantBytes = 0;
  unsigned locals = 0; // functions and constants that come along
  std::vector<Obstacle> obstacles;
  std::vector<std::string> callees;   // functions of other units, in order of first use
  std::vector<std::string> variables; // the same of variables
};

struct Decision {
  static constexpr int kNone = -1;

  std::string name;
  int parent = kNone;           // number of the decision on whose import it depends
  const Facts *facts = nullptr; // null for what the library does not define
  double limit = 0;             // instructions
  double cost = 0;
  std::string obstacle; // empty for what is imported
};

/// Null for what the library does not define. Fails with Kind::Library.
using FindFacts = llvm::function_ref<Outcome<const Facts *>(const std::string &name)>;

/// Decide on functions that a program calls and on what they call, nearest first. Without a policy,
/// all that is reachable is imported. Fails where `find` does.
Outcome<std::vector<Decision>> decide(const std::vector<std::string> &names,
                                      const std::optional<ImportPolicy> &policy, FindFacts find);

/// Why a program cannot have a copy of what it needs; null where it can.
std::optional<Failure> whyNotCopied(const std::vector<Decision> &decisions);

} // namespace twinjit::library
