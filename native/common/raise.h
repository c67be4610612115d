// Turns a Failure into its Python exception. For the bindings only (needs nanobind).
#pragma once

#include "common/outcome.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

namespace twinjit {

inline const char *exceptionName(Kind kind) {
  switch (kind) {
  case Kind::Parse:
    return "ParseError";
  case Kind::Verification:
    return "VerificationError";
  case Kind::Pipeline:
    return "PipelineError";
  case Kind::Lowering:
  case Kind::Translation:
    return "LoweringError";
  case Kind::Unfingerprintable:
    return "UnfingerprintableError";
  case Kind::Policy:
    return "PolicyError";
  case Kind::Unsupported:
    return "UnsupportedProgramError";
  case Kind::Target:
    return "TargetError";
  case Kind::Emission:
    return "CompilationError";
  case Kind::Symbol:
    return "UnresolvedSymbolError";
  case Kind::Load:
    return "ArtifactError";
  case Kind::NoMemory:
    return "ArtifactUnavailableError";
  case Kind::Library:
    return "LibraryError";
  case Kind::Context:
    return "ContextError";
  case Kind::Fork:
    return "ForkError";
  case Kind::Cancelled:
    return "CompilationCancelledError";
  case Kind::Timeout:
    return "CompilationTimeoutError";
  }
  return "TwinjitError";
}

/// What LLVM and MLIR say may quote bytes of a program that are no UTF-8.
inline nanobind::object decoded(const std::string &text) {
  return nanobind::steal(
      PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "backslashreplace"));
}

/// As a tuple of twinjit.errors.Diagnostic. Needs the GIL.
inline nanobind::tuple toPython(const std::vector<Diagnostic> &diagnostics) {
  nanobind::object type = nanobind::module_::import_("twinjit.errors").attr("Diagnostic");
  nanobind::list made;
  for (const Diagnostic &d : diagnostics)
    made.append(type(d.severity, decoded(d.message), decoded(d.file), d.line, d.column,
                     decoded(d.excerpt), toPython(d.notes), decoded(d.name)));
  return nanobind::tuple(made);
}

/// Raise twinjit.errors.<kind>(message, diagnostics=(Diagnostic(...), ...)). Needs the GIL.
[[noreturn]] inline void raise(const Failure &failure) {
  namespace nb = nanobind;
  nb::module_ errors = nb::module_::import_("twinjit.errors");
  nb::object type = errors.attr(exceptionName(failure.kind));
  nb::object exception =
      type(decoded(failure.message), nb::arg("diagnostics") = toPython(failure.diagnostics));
  PyErr_SetObject(type.ptr(), exception.ptr());
  throw nb::python_error();
}

template <typename T> T unwrap(Outcome<T> outcome) {
  if (!outcome)
    raise(outcome.failure());
  return std::move(*outcome);
}

} // namespace twinjit
