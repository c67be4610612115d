#include "ir/pipeline.h"

#include "codegen/host.h"
#include "common/own_stderr.h"
#include "ir/context_pool.h"

#include "mlir-c/IR.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassRegistry.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

namespace twinjit {
namespace {

/// Upstream's passes that read a file named in their options.
constexpr llvm::StringLiteral kFileReaders[] = {
    "transform-preload-library", "gpu-module-to-binary", "nvvm-attach-target",
    "rocdl-attach-target",       "xevm-attach-target",
};

llvm::SmallVector<llvm::StringRef> words(llvm::StringRef text) {
  llvm::SmallVector<llvm::StringRef> found;
  llvm::SplitString(text, found, ",(){} =\t\r\n");
  return found;
}

Outcome<mlir::OpPassManager> parsePasses(llvm::StringRef anchor, llvm::StringRef passes) {
  std::string errors;
  llvm::raw_string_ostream stream(errors);
  mlir::OpPassManager manager(anchor, mlir::OpPassManager::Nesting::Explicit);
  if (mlir::failed(mlir::parsePassPipeline(passes, manager, stream)))
    return Failure{Kind::Pipeline,
                   "the pass pipeline does not parse: " + llvm::StringRef(errors).trim().str()};
  return manager;
}

/// Collects the libraries that the passes of a canonical pipeline come from.
class LibraryFinder {
public:
  std::map<std::string, std::string> libraries;

  /// `passes` is the text between the parentheses of `anchor`.
  std::optional<Failure> visit(llvm::StringRef anchor, llvm::StringRef passes) {
    auto manager = parsePasses(anchor, passes);
    if (!manager)
      return manager.failure();
    for (mlir::Pass &pass : manager->getPasses())
      if (auto failure = add(pass))
        return failure;
    return visitNested(passes);
  }

private:
  /// A pass belongs to the library that holds its class's virtual table.
  std::optional<Failure> add(const mlir::Pass &pass) {
    std::string path = libraryOf(*reinterpret_cast<void *const *>(&pass));
    if (path == known[0] || path == known[1] || libraries.count(path))
      return std::nullopt;
    auto identity = libraryIdentity(path);
    if (!identity)
      return identity.failure();
    libraries[path] = *identity;
    return std::nullopt;
  }

  /// Nested pipelines, name(...), are out of sight in their parent: parse them by themselves.
  std::optional<Failure> visitNested(llvm::StringRef passes) {
    size_t name = 0, open = 0;
    int depth = 0, options = 0;
    for (size_t i = 0; i != passes.size(); ++i) {
      char c = passes[i];
      options += c == '{' ? 1 : c == '}' ? -1 : 0;
      if (options)
        continue;
      if (c == ',' && depth == 0)
        name = i + 1;
      if (c == '(' && depth++ == 0)
        open = i;
      if (c == ')' && --depth == 0)
        if (auto failure = visit(passes.slice(name, open), passes.slice(open + 1, i)))
          return failure;
    }
    return std::nullopt;
  }

  const std::string known[2] = {libraryOf(reinterpret_cast<const void *>(&mlirContextDestroy)),
                                libraryOf(reinterpret_cast<const void *>(&identifyPipeline))};
};

/// The text inside "builtin.module(...)", which the parser wants bare: given the whole it would
/// nest a module in the module and silently run nothing.
Outcome<llvm::StringRef> unwrapModule(llvm::StringRef text) {
  text = text.trim();
  if (text.consume_front("builtin.module") && !(text.consume_front("(") && text.consume_back(")")))
    return Failure{Kind::Pipeline, "unbalanced 'builtin.module(...)' in the pass pipeline"};
  return text;
}

} // namespace

Outcome<mlir::OpPassManager> parsePipeline(llvm::StringRef text) {
  registerPasses();
  auto passes = unwrapModule(text);
  if (!passes)
    return passes.failure();
  return parsePasses(mlir::ModuleOp::getOperationName(), *passes);
}

Outcome<mlir::OpPassManager> parseNewPipeline(llvm::StringRef text) {
  if (!text.contains('{')) // without options, nothing is written
    return parsePipeline(text);
  std::optional<Outcome<mlir::OpPassManager>> parsed;
  std::string written = withOwnStderr([&] { parsed.emplace(parsePipeline(text)); });
  if (!*parsed && !written.empty())
    parsed->failure().message += "; " + llvm::StringRef(written).trim(" :\n").str();
  return std::move(*parsed);
}

Outcome<PipelineIdentity> identifyPipeline(llvm::StringRef text) {
  auto manager = parseNewPipeline(text);
  if (!manager)
    return manager.failure();
  PipelineIdentity identity;
  llvm::raw_string_ostream stream(identity.canonical);
  manager->printAsTextualPipeline(stream);
  identity.isAbbreviated = llvm::any_of(
      words(text), [](llvm::StringRef word) { return mlir::PassPipelineInfo::lookup(word); });
  for (llvm::StringRef word : words(identity.canonical))
    if (llvm::is_contained(kFileReaders, word))
      identity.fileReader = word.str();
  LibraryFinder finder;
  if (auto failure =
          finder.visit(mlir::ModuleOp::getOperationName(), *unwrapModule(identity.canonical)))
    return std::move(*failure);
  identity.libraries = std::move(finder.libraries);
  return identity;
}

} // namespace twinjit
