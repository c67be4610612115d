// Pass pipelines as text.
#pragma once

#include "common/outcome.h"

#include "mlir/Pass/PassManager.h"

#include <map>
#include <string>

namespace twinjit {

/// Parse "builtin.module(...)", or a bare list of passes over the module. Fails with
/// Kind::Pipeline, quoting MLIR; LLVM also writes to stderr then where a pass's option has a value
/// that it cannot have.
Outcome<mlir::OpPassManager> parsePipeline(llvm::StringRef text);

/// The same, for texts that may never have been parsed: in silence, and quoting LLVM as well.
Outcome<mlir::OpPassManager> parseNewPipeline(llvm::StringRef text);

/// What the result of a pass pipeline depends on, beside the program.
struct PipelineIdentity {
  /// The pipeline as MLIR prints what it parsed, options in full.
  std::string canonical;
  /// Whether it names registered pipelines. MLIR prints their passes without the options that the
  /// pipeline gave them, so that only the text itself tells two of them apart.
  bool isAbbreviated = false;
  /// The pass that reads files, whose content no key knows; empty where there is none.
  std::string fileReader;
  /// Build identities by path of the libraries that passes come from, other than MLIR's and ours.
  std::map<std::string, std::string> libraries;
};

/// Fails as parsePipeline().
Outcome<PipelineIdentity> identifyPipeline(llvm::StringRef text);

} // namespace twinjit
