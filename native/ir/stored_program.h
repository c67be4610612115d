// A program as it is kept beside its code, to confirm hits.
#pragma once

#include "common/policy.h"
#include "ir/program.h"

namespace twinjit {

/// The program in MLIR's bytecode, large constants included. It loses the locations that do not
/// count, so that where it came from does not show.
Outcome<std::string> toBytecode(Program &program, const Policy &policy);

} // namespace twinjit
