#include "common/activity.h"
#include "common/clock.h"
#include "ir/admission.h"
#include "ir/interrupt.h"
#include "ir/pipeline.h"
#include "ir/program.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Export.h"

#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Support/raw_ostream.h"

#include <map>
#include <optional>

namespace twinjit {
namespace {

/// What is left that has no place in LLVM IR, with how often it occurs and where first.
std::vector<Diagnostic> leftovers(mlir::ModuleOp module) {
  std::map<std::string, std::pair<unsigned, std::string>> found;
  module->walk([&](mlir::Operation *operation) {
    if (operation == module.getOperation() ||
        llvm::isa_and_nonnull<mlir::LLVM::LLVMDialect>(operation->getDialect()) ||
        operation->getName().getDialectNamespace() == "omp")
      return;
    auto &[count, place] = found[operation->getName().getStringRef().str()];
    if (count++ == 0)
      if (auto parent = operation->getParentOfType<mlir::FunctionOpInterface>())
        place = " in @" + parent.getName().str();
  });
  std::vector<Diagnostic> diagnostics;
  diagnostics.reserve(found.size());
  for (const auto &[name, entry] : found)
    diagnostics.push_back({"error", "'" + name + "' was not lowered (" +
                                        std::to_string(entry.first) + " left, first" +
                                        entry.second + ")"});
  return diagnostics;
}

Failure passFailure(std::vector<Diagnostic> diagnostics) {
  // A conversion that met an operation it has no pattern for names it this way.
  bool illegal = llvm::any_of(diagnostics, [](const Diagnostic &d) {
    return llvm::StringRef(d.message).contains("failed to legalize");
  });
  if (illegal)
    return Failure{Kind::Lowering, "the pipeline cannot lower the program", std::move(diagnostics)};
  return Failure{Kind::Pipeline, "a pass of the pipeline failed on the program",
                 std::move(diagnostics)};
}

std::optional<Failure> run(mlir::PassManager &manager, Program &program, const Stop &stop) {
  std::optional<PassInterrupter> interrupter;
  if (&stop != &neverStop || activity)
    interrupter.emplace(manager, stop);
  bool ran = mlir::succeeded(manager.run(program.module()));
  if (stop.isRequested()) {
    program.lease().taint(); // nobody knows what passes that were cut short have left
    return stop.failure("passes", interrupter->pass());
  }
  if (!ran)
    return passFailure(program.lease().takeDiagnostics());
  return std::nullopt;
}

/// Verifies the result itself: the translation would print to stderr, and reading invalid bitcode
/// ends the process.
Outcome<std::string> translate(Program &program, const Stop &stop) {
  llvm::LLVMContext context;
  auto module = mlir::translateModuleToLLVMIR(program.module(), context, "twinjit",
                                              /*disableVerification=*/true);
  if (!module)
    return Failure{Kind::Translation, "the lowered program cannot be translated to LLVM IR",
                   program.lease().takeDiagnostics()};
  if (stop.isRequested())
    return stop.failure("translate");
  std::string problems;
  llvm::raw_string_ostream problemStream(problems);
  if (llvm::verifyModule(*module, &problemStream))
    return Failure{Kind::Translation, "the lowered program is not valid LLVM IR: " +
                                          llvm::StringRef(problems).trim().str()};
  if (stop.isRequested())
    return stop.failure("translate");
  std::string bitcode;
  llvm::raw_string_ostream stream(bitcode);
  llvm::WriteBitcodeToFile(*module, stream);
  return bitcode;
}

} // namespace

Outcome<Lowered> lower(Program &program, llvm::StringRef pipeline, bool trusted, const Stop &stop) {
  auto parsed = parsePipeline(pipeline);
  if (!parsed)
    return parsed.failure();
  if (auto refused = refuse(program.module()))
    return std::move(*refused);
  if (auto refused = renameDefinitions(program.module()))
    return std::move(*refused);
  mlir::PassManager manager(program.lease().get(), mlir::ModuleOp::getOperationName());
  static_cast<mlir::OpPassManager &>(manager) = std::move(*parsed);
  if (!trusted)
    program.lease().taint();
  if (stop.isRequested())
    return stop.failure();
  Lowered lowered;
  auto start = Clock::now();
  notePhase("passes");
  if (auto failure = run(manager, program, stop))
    return std::move(*failure);
  lowered.passSeconds = secondsSince(start);
  auto left = leftovers(program.module());
  if (!left.empty())
    return Failure{Kind::Lowering, "the pipeline left operations that LLVM IR has no place for",
                   std::move(left)};
  start = Clock::now();
  notePhase("translate");
  auto bitcode = translate(program, stop);
  if (!bitcode)
    return bitcode.failure();
  lowered.bitcode = std::move(*bitcode);
  lowered.translateSeconds = secondsSince(start);
  return lowered;
}

} // namespace twinjit
