#include "ir/stored_program.h"

#include "ir/normalise.h"

#include "mlir/Bytecode/BytecodeWriter.h"

#include "llvm/Support/raw_ostream.h"

namespace twinjit {

Outcome<std::string> toBytecode(Program &program, const Policy &policy) {
  if (policy.ignoreLocations)
    dropLocations(program.module());
  std::string bytecode;
  llvm::raw_string_ostream stream(bytecode);
  if (mlir::failed(mlir::writeBytecodeToFile(program.module(), stream)))
    return Failure{Kind::Unsupported, "the program cannot be written as MLIR bytecode",
                   program.lease().takeDiagnostics()};
  return bytecode;
}

} // namespace twinjit
