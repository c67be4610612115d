// A program in a private context, on its way to LLVM IR.
#pragma once

#include "common/stop.h"
#include "ir/context_pool.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <optional>
#include <string>
#include <vector>

namespace twinjit {

/// What a caller must know of one parameter or result.
struct Value {
  // "scalar", "memref", "tensor", "pointer", or "unsupported"
  std::string kind;
  // Of a scalar or of an element: "i1".."i64" (any width for scalars), "si8".., "ui8".., "index",
  // "f16", "bf16", "f32", "f64", "complex<f32>", "complex<f64>". The whole type where unsupported.
  std::string dtype;
  std::vector<int64_t> shape;                  // -1: dynamic
  std::optional<std::vector<int64_t>> strides; // in elements, -1: dynamic; none: row-major
  std::optional<int64_t> offset;               // in elements, -1: dynamic; none: 0
  std::string text;                            // the type as MLIR prints it
  bool readOnly = false;                       // the function promises not to write it
};

struct Signature {
  std::string name;
  std::vector<Value> arguments;
  std::vector<Value> results;
  std::string uncallable; // why the function cannot be called from Python; empty when it can
};

class Program {
public:
  /// Parse text or bytecode (told apart by content) and verify it. `name` appears in diagnostics.
  /// Fails as `stop` says where that is requested, which MLIR's parser itself does not look at.
  static Outcome<Program> parse(llvm::StringRef source, llvm::StringRef name,
                                bool allowUnregistered, const Stop &stop);

  /// Copy an operation of any context into a private one, as bytecode; one that is no module is
  /// wrapped in a module. Never modifies it. The same rules for concurrency as fingerprint().
  /// Looks at `stop` as parse() does.
  static Outcome<Program> transfer(mlir::Operation *source, const Stop &stop);

  /// The two halves of transfer(), which may be done in two processes: bytecode with all locations,
  /// under the same rules; and the program, from that.
  static Outcome<std::string> write(mlir::Operation *source);
  static Outcome<Program> readWritten(llvm::StringRef bytecode, const Stop &stop = neverStop);

  Program(Program &&) = default;
  Program &operator=(Program &&) = delete;
  ~Program() { spend(); }

  /// Destroy the module, and return its context. Nothing but isSpent() may be called then.
  void spend();
  bool isSpent() const { return !moduleRef; }

  mlir::ModuleOp module() const { return *moduleRef; }

  ContextLease &lease() { return contextLease; }

  /// Namespaces of the dialects whose operations and types occur, sorted.
  std::vector<std::string> dialects() const;

  /// Whether any value is a tensor, so that the program needs bufferisation.
  bool usesTensors() const;

  /// Signatures of the functions that callers may enter: public, with a body, at the top level.
  /// Fails with Kind::Unsupported on a name that is not UTF-8, which Python could not say.
  Outcome<std::vector<Signature>> signatures() const;

private:
  Program(ContextLease lease, mlir::OwningOpRef<mlir::ModuleOp> module);

  /// Taint the lease if the module, as it is now, has left named state in the context.
  void checkTraces();

  // In this order: the module must go before its context returns to the pool.
  ContextLease contextLease;
  mlir::OwningOpRef<mlir::ModuleOp> moduleRef;
};

struct Lowered {
  std::string bitcode;
  double passSeconds = 0;
  double translateSeconds = 0;
};

/// Run a pass pipeline over the program and translate the result to LLVM bitcode. Consumes the
/// program: whatever the outcome, it is to be spent.
///
/// Programs with one fingerprint give one bitcode if they were normalised before (normalise.h).
/// Unless the pipeline is `trusted` to leave nothing in the program's context, that is not used
/// again. Fails as `stop` says where that is requested before the end.
Outcome<Lowered> lower(Program &program, llvm::StringRef pipeline, bool trusted, const Stop &stop);

} // namespace twinjit
