// How the native core reports what went wrong.
//
// The core is compiled without exceptions. A function that can fail on anything a user hands in
// returns an Outcome; the bindings turn a Failure into the exception of twinjit.errors that `kind`
// names. This is the one seam through which LLVM's and MLIR's errors reach Python.
#pragma once

#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace twinjit {

enum class Kind {
  Parse,             // ParseError: the text or bytecode cannot be read
  Verification,      // VerificationError: it reads, but breaks an operation's rules
  Pipeline,          // PipelineError: the pass pipeline's text is wrong, or a pass failed
  Lowering,          // LoweringError: operations remain that LLVM IR has no place for
  Translation,       // LoweringError, from the translation to LLVM IR
  Unfingerprintable, // UnfingerprintableError
  Policy,            // PolicyError: not a policy's canonical text
  Unsupported,       // UnsupportedProgramError: not a program we can take
  Target,            // TargetError: LLVM does not know it, or it is another machine's
  Emission,          // CompilationError: LLVM's optimiser or code generator refused
  Symbol,            // UnresolvedSymbolError
  Load,              // ArtifactError: the code cannot be linked into the process
  Library,           // LibraryError: bitcode to import from cannot be read, or copied
  Context,           // ContextError: see live_work.h
  Fork,              // ForkError: a fork left what the work needs unusable
  Cancelled,         // CompilationCancelledError: see stop.h
  Timeout,           // CompilationTimeoutError: see stop.h
  NoMemory,          // ArtifactUnavailableError: the system gives no memory for code
};

/// One diagnostic as MLIR or LLVM emitted it.
struct Diagnostic {
  std::string severity; // "error", "warning", "remark"; "note" among notes
  std::string message;
  std::string file = {}; // empty where the location is unknown
  unsigned line = 0;
  unsigned column = 0;
  std::string excerpt = {}; // the line itself and a caret below; empty where it is not at hand
  std::vector<Diagnostic> notes = {};
  std::string name = {}; // that the location has beside a file, or for want of one
};

struct Failure {
  Kind kind;
  std::string message;
  std::vector<Diagnostic> diagnostics = {};
};

template <typename T> class [[nodiscard]] Outcome {
public:
  Outcome(T value) : state(std::move(value)) {}
  Outcome(Failure failure) : state(std::move(failure)) {}

  explicit operator bool() const { return std::holds_alternative<T>(state); }
  T &operator*() { return std::get<T>(state); }
  T *operator->() { return &std::get<T>(state); }
  Failure &failure() { return std::get<Failure>(state); }

private:
  std::variant<T, Failure> state;
};

} // namespace twinjit
