// Programs as Python hands them over: private ones, and live ones by their capsules.
#pragma once

#include "common/raise.h"
#include "forks/work.h"
#include "ir/live_work.h"
#include "ir/program.h"

#include "mlir-c/Bindings/Python/Interop.h"
#include "mlir/CAPI/IR.h"

#include <nanobind/nanobind.h>

#include <optional>

namespace twinjit {

/// The operation behind a `_CAPIPtr` capsule of `mlir.ir` (a Module's or an Operation's).
inline mlir::Operation *fromCapsule(const nanobind::object &capsule) {
  if (PyCapsule_IsValid(capsule.ptr(), MLIR_PYTHON_CAPSULE_MODULE))
    return unwrap(mlirModuleGetOperation(mlirPythonCapsuleToModule(capsule.ptr())));
  if (PyCapsule_IsValid(capsule.ptr(), MLIR_PYTHON_CAPSULE_OPERATION))
    return unwrap(mlirPythonCapsuleToOperation(capsule.ptr()));
  raise({Kind::Unsupported, "not a module or operation of the MLIR that twinjit is built on; hand "
                            "over its text, str(module), instead"});
}

/// The program, unless it has been lowered.
inline Program &usable(Program &program) {
  if (program.isSpent())
    raise({Kind::Unsupported, "the program has been lowered, and is no more"});
  return program;
}

/// A member function of Program that raises on one that has been lowered.
template <auto Member> auto onUsable() {
  return [](Program &program) {
    Program &checked = usable(program);
    return compilerWork([&] { return (checked.*Member)(); });
  };
}

/// A program in any form: a Program, or the capsule of a live one.
struct AnyProgram {
  explicit AnyProgram(const nanobind::object &program)
      : isPrivate(nanobind::isinstance<Program>(program)),
        operation(isPrivate ? usable(nanobind::cast<Program &>(program)).module().getOperation()
                            : fromCapsule(program)) {}

  /// Whether nobody else uses its context. Of a live one in single-threaded mode, only the GIL
  /// keeps the bindings' other threads from creating attributes in it meanwhile.
  bool needsNoGil() const {
    return isPrivate || operation->getContext()->isMultithreadingEnabled();
  }

  bool isPrivate;
  mlir::Operation *operation;
};

/// Counts work in on live programs. Needs the GIL.
inline std::optional<LiveWork> reading(const AnyProgram &program) {
  if (program.isPrivate)
    return std::nullopt;
  return unwrap(LiveWork::begin(program.operation, LiveWork::Use::Read));
}

/// Calls `work`, which reads the programs, without the GIL if none of them needs it.
template <typename Function, typename... Programs>
auto withoutGil(Function &&work, const Programs &...programs) {
  [[maybe_unused]] std::optional<LiveWork> live[] = {reading(programs)...};
  return compilerWork(work, Work::Compile,
                      (programs.needsNoGil() && ...) ? Gil::Release : Gil::Hold);
}

} // namespace twinjit
