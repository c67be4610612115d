#include "ir/program.h"

#include "common/deep_stack.h"
#include "common/diagnostics.h"
#include "ir/depth.h"
#include "ir/diagnostics.h"
#include "ir/resources.h"
#include "ir/text.h"

#include "mlir/Bytecode/BytecodeReader.h"
#include "mlir/Bytecode/BytecodeWriter.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinDialect.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"

#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBufferRef.h"

#include <set>

namespace twinjit {
namespace {

/// Give the diagnostics on `name` the lines of `source` that they point to.
void quote(std::vector<Diagnostic> &diagnostics, llvm::StringRef source, llvm::StringRef name) {
  for (Diagnostic &diagnostic : diagnostics) {
    quote(diagnostic.notes, source, name);
    if (diagnostic.file != name || diagnostic.line == 0 || diagnostic.column == 0)
      continue;
    llvm::StringRef rest = source;
    for (unsigned line = 1; line != diagnostic.line; ++line)
      rest = rest.split('\n').second;
    diagnostic.excerpt = excerpt(rest.split('\n').first, diagnostic.column - 1);
  }
}

/// For a program that was not read to its end: what it left in the context is not known.
Failure withDiagnostics(Kind kind, std::string message, ContextLease &lease) {
  lease.taint();
  return Failure{kind, std::move(message), lease.takeDiagnostics()};
}

/// The same for one that was not looked at to its end.
Failure stopped(const Stop &stop, ContextLease &lease) {
  lease.taint();
  return stop.failure("parse");
}

Failure tooDeep(Kind kind, const std::string &what) {
  return Failure{kind, what + " is nested more than " + std::to_string(kMaxNesting) + " deep"};
}

/// Check each operation of a live program, as far as writing it relies on: the bytecode writer ends
/// the process on a required attribute that is missing. Not mlir::verify(), which numbers
/// operations anew and so must not run in two threads on one program.
std::vector<Diagnostic> problemsOf(mlir::Operation *source) {
  ThreadDiagnostics problems(source->getContext());
  source->walk<mlir::WalkOrder::PreOrder>([](mlir::Operation *operation) {
    bool isValid = mlir::succeeded(operation->getName().verifyInvariants(operation));
    return isValid ? mlir::WalkResult::advance() : mlir::WalkResult::interrupt();
  });
  return problems.take();
}

/// Signature of a scalar: its name as MLIR writes it, or empty where a call cannot pass it.
std::string scalarName(mlir::Type type) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  stream << type;
  if (auto integer = llvm::dyn_cast<mlir::IntegerType>(type))
    return integer.getWidth() >= 1 && integer.getWidth() <= 64 ? text : "";
  if (auto complex = llvm::dyn_cast<mlir::ComplexType>(type)) {
    mlir::Type part = complex.getElementType();
    return part.isF32() || part.isF64() ? text : "";
  }
  if (type.isIndex() || type.isF16() || type.isBF16() || type.isF32() || type.isF64())
    return text;
  return "";
}

/// Elements lie in memory as NumPy lays them out: whole bytes only, i1 as one byte.
bool isStorable(mlir::Type type) {
  auto integer = llvm::dyn_cast<mlir::IntegerType>(type);
  if (!integer)
    return true;
  unsigned width = integer.getWidth();
  return width == 1 || width == 8 || width == 16 || width == 32 || width == 64;
}

std::vector<int64_t> plain(llvm::ArrayRef<int64_t> extents) {
  std::vector<int64_t> result;
  for (int64_t extent : extents)
    result.push_back(mlir::ShapedType::isDynamic(extent) ? -1 : extent);
  return result;
}

constexpr int64_t kMaxRank = 8;

/// Fill in the shape and layout of a memref; false when a call cannot pass it.
bool describeMemRef(mlir::MemRefType type, Value &value) {
  if (type.getMemorySpace()) // MLIR drops the default one, 0; others need not be numbers
    return false;
  value.shape = plain(type.getShape());
  if (type.getLayout().isIdentity()) {
    value.kind = "memref";
    return true;
  }
  llvm::SmallVector<int64_t> strides;
  int64_t offset;
  if (mlir::failed(type.getStridesAndOffset(strides, offset)))
    return false;
  if (offset == -1 || llvm::is_contained(strides, -1)) // would read as dynamic
    return false;
  value.strides = plain(strides);
  value.offset = mlir::ShapedType::isDynamic(offset) ? -1 : offset;
  value.kind = "memref";
  return true;
}

Value describe(mlir::Type type) {
  Value value;
  llvm::raw_string_ostream(value.text) << type;
  value.kind = "unsupported";
  value.dtype = value.text;
  if (llvm::isa<mlir::LLVM::LLVMPointerType>(type)) {
    value.kind = "pointer";
    return value;
  }
  auto shaped = llvm::dyn_cast<mlir::ShapedType>(type);
  if (!shaped) {
    std::string name = scalarName(type);
    if (!name.empty()) {
      value.kind = "scalar";
      value.dtype = name;
    }
    return value;
  }
  std::string element = scalarName(shaped.getElementType());
  if (element.empty() || !isStorable(shaped.getElementType()) || !shaped.hasRank() ||
      shaped.getRank() > kMaxRank)
    return value;
  if (auto memref = llvm::dyn_cast<mlir::MemRefType>(type)) {
    if (!describeMemRef(memref, value))
      return value;
  } else if (auto tensor = llvm::dyn_cast<mlir::RankedTensorType>(type);
             tensor && !tensor.getEncoding()) {
    value.kind = "tensor";
    value.shape = plain(tensor.getShape());
  } else {
    return value;
  }
  value.dtype = element;
  return value;
}

bool promisesNotToWrite(mlir::FunctionOpInterface function, unsigned index) {
  if (function.getArgAttr(index, "llvm.readonly") || function.getArgAttr(index, "llvm.readnone"))
    return true;
  auto access = function.getArgAttrOfType<mlir::StringAttr>(index, "bufferization.access");
  return access && (access.getValue() == "read" || access.getValue() == "none");
}

std::string whyUncallable(const Signature &signature) {
  auto search = [](const std::vector<Value> &values, const char *role) -> std::string {
    for (size_t i = 0; i != values.size(); ++i)
      if (values[i].kind == "unsupported")
        return std::string(role) + " " + std::to_string(i) + " has type " + values[i].text;
    return "";
  };
  std::string why = search(signature.arguments, "argument");
  return why.empty() ? search(signature.results, "result") : why;
}

Signature describe(mlir::FunctionOpInterface function) {
  Signature signature;
  signature.name = function.getName().str();
  for (auto [index, type] : llvm::enumerate(function.getArgumentTypes())) {
    Value value = describe(type);
    value.readOnly = promisesNotToWrite(function, index);
    if (auto copied = function.getArgAttrOfType<mlir::TypeAttr>(index, "llvm.byval")) {
      llvm::raw_string_ostream(value.text) << " byval(" << copied.getValue() << ")";
      value.dtype = value.text;
    }
    signature.arguments.push_back(std::move(value));
  }
  for (mlir::Type type : function.getResultTypes())
    if (!llvm::isa<mlir::LLVM::LLVMVoidType>(type))
      signature.results.push_back(describe(type));
  signature.uncallable = whyUncallable(signature);
  auto llvmFunction = llvm::dyn_cast<mlir::LLVM::LLVMFuncOp>(function.getOperation());
  if (llvmFunction && llvmFunction.isVarArg())
    signature.uncallable = "it takes a variable number of arguments";
  return signature;
}

bool isEntry(mlir::FunctionOpInterface function) {
  if (function.isExternal() || !function.isPublic())
    return false;
  auto llvmFunction = llvm::dyn_cast<mlir::LLVM::LLVMFuncOp>(function.getOperation());
  return !llvmFunction || llvmFunction.getLinkage() == mlir::LLVM::Linkage::External;
}

/// Namespaces of a type and of the types inside it.
void collectDialects(mlir::Type type, std::set<std::string> &names) {
  type.walk([&](mlir::Type inner) { names.insert(inner.getDialect().getNamespace().str()); });
}

bool hasNamedStructs(mlir::ModuleOp module) {
  bool found = false;
  mlir::AttrTypeWalker walker;
  walker.addWalk([&](mlir::LLVM::LLVMStructType type) { found |= type.isIdentified(); });
  module->walk([&](mlir::Operation *operation) {
    walker.walk(operation->getAttrDictionary());
    for (mlir::Type type : operation->getResultTypes())
      walker.walk(type);
    for (mlir::Region &region : operation->getRegions())
      for (mlir::Block &block : region)
        for (mlir::Type type : block.getArgumentTypes())
          walker.walk(type);
  });
  return found;
}

/// Whether all operands and successors in `root` are defined in it.
bool isClosed(mlir::Operation *root) {
  auto isInside = [&](mlir::Block *block) {
    mlir::Operation *parent = block->getParentOp();
    return parent && root->isAncestor(parent);
  };
  bool closed = true;
  root->walk([&](mlir::Operation *operation) {
    for (mlir::Value operand : operation->getOperands())
      closed &= operand.getDefiningOp() == root || isInside(operand.getParentBlock());
    for (mlir::Block *successor : operation->getSuccessors())
      closed &= isInside(successor);
  });
  return closed;
}

} // namespace

Program::Program(ContextLease lease, mlir::OwningOpRef<mlir::ModuleOp> module)
    : contextLease(std::move(lease)), moduleRef(std::move(module)) {
  checkTraces();
}

void Program::spend() {
  if (!moduleRef)
    return; // spent, or moved from
  // Whoever drops a program may have a small stack.
  runWithRoom(kStackForCompiling, [&] {
    checkTraces(); // lowering may have brought in new names
    moduleRef = nullptr;
  });
  contextLease.giveBack();
}

void Program::checkTraces() {
  if (hasResources(contextLease.get()) || hasNamedStructs(*moduleRef))
    contextLease.taint();
}

Outcome<Program> Program::parse(llvm::StringRef source, llvm::StringRef name,
                                bool allowUnregistered, const Stop &stop) {
  bool isText = !mlir::isBytecode(llvm::MemoryBufferRef(source, name));
  if (isText && nestingOf(source) > kMaxNesting)
    return tooDeep(Kind::Parse, "cannot parse " + name.str() + " as MLIR: it");
  if (isText && hasBrokenResources(source))
    return Failure{Kind::Parse,
                   "cannot parse " + name.str() + " as MLIR: its section of resources is broken"};
  ContextLease lease;
  lease.charge(source.size());
  lease->allowUnregisteredDialects(allowUnregistered);
  // Verification is a step of its own, so that the two kinds of mistake get two kinds of error.
  mlir::ParserConfig config(lease.get(), /*verifyAfterParse=*/false);
  auto module = mlir::parseSourceString<mlir::ModuleOp>(source, config, name);
  if (module && isTooDeep(*module)) { // bytecode: its reader takes no stack
    dismantle(*module);
    lease.taint();
    return tooDeep(Kind::Parse, "cannot take " + name.str() + ": it");
  }
  if (stop.isRequested())
    return stopped(stop, lease);
  if (!module || mlir::failed(mlir::verify(*module))) {
    Failure failure = withDiagnostics(
        module ? Kind::Verification : Kind::Parse,
        module ? name.str() + " is not valid" : "cannot parse " + name.str() + " as MLIR", lease);
    if (isText)
      quote(failure.diagnostics, source, name);
    return failure;
  }
  if (stop.isRequested())
    return stopped(stop, lease);
  return Program(std::move(lease), std::move(module));
}

Outcome<Program> Program::transfer(mlir::Operation *source, const Stop &stop) {
  Outcome<std::string> bytecode = write(source);
  if (!bytecode)
    return bytecode.failure();
  if (stop.isRequested())
    return stop.failure("parse");
  return readWritten(*bytecode, stop);
}

Outcome<std::string> Program::write(mlir::Operation *source) {
  if (isTooDeep(source))
    return tooDeep(Kind::Unsupported, "the program");
  if (!isClosed(source)) // the bytecode writer would assert
    return Failure{Kind::Unsupported,
                   "the operation uses values or blocks from outside of it; hand "
                   "over the function or module that it is in"};
  auto problems = problemsOf(source);
  if (!problems.empty())
    return Failure{Kind::Verification, "the program is not valid", std::move(problems)};
  std::string bytecode;
  llvm::raw_string_ostream stream(bytecode);
  if (mlir::failed(mlir::writeBytecodeToFile(source, stream)))
    return Failure{Kind::Unsupported, "the program cannot be written as MLIR bytecode"};
  return bytecode;
}

Outcome<Program> Program::readWritten(llvm::StringRef bytecode, const Stop &stop) {
  ContextLease lease;
  lease.charge(bytecode.size());
  lease->allowUnregisteredDialects(false);
  mlir::Block block;
  mlir::ParserConfig config(lease.get(), /*verifyAfterParse=*/false);
  if (mlir::failed(mlir::parseSourceString(bytecode, &block, config, "<live module>")))
    return withDiagnostics(Kind::Unsupported, "the program cannot be copied into a context of ours",
                           lease);
  mlir::OwningOpRef<mlir::ModuleOp> module;
  if (auto whole = llvm::dyn_cast<mlir::ModuleOp>(block.front());
      whole && block.getOperations().size() == 1) {
    whole->remove();
    module = whole;
  } else {
    module = mlir::ModuleOp::create(mlir::UnknownLoc::get(lease.get()));
    module->getBody()->getOperations().splice(module->getBody()->end(), block.getOperations());
  }
  if (stop.isRequested())
    return stopped(stop, lease);
  if (mlir::failed(mlir::verify(*module)))
    return withDiagnostics(Kind::Verification, "the program is not valid", lease);
  return Program(std::move(lease), std::move(module));
}

std::vector<std::string> Program::dialects() const {
  std::set<std::string> names;
  module()->walk([&](mlir::Operation *operation) {
    names.insert(operation->getName().getDialectNamespace().str());
    for (mlir::Type type : operation->getResultTypes())
      collectDialects(type, names);
    for (mlir::Region &region : operation->getRegions())
      for (mlir::Block &block : region)
        for (mlir::Type type : block.getArgumentTypes())
          collectDialects(type, names);
    for (mlir::NamedAttribute attribute : operation->getAttrs())
      if (auto type = llvm::dyn_cast<mlir::TypeAttr>(attribute.getValue()))
        collectDialects(type.getValue(), names);
  });
  return {names.begin(), names.end()};
}

bool Program::usesTensors() const {
  return module()
      ->walk([](mlir::Operation *operation) {
        auto isTensor = [](mlir::Type type) { return llvm::isa<mlir::TensorType>(type); };
        bool found = llvm::any_of(operation->getResultTypes(), isTensor);
        if (auto function = llvm::dyn_cast<mlir::FunctionOpInterface>(operation))
          found |= llvm::any_of(function.getArgumentTypes(), isTensor) ||
                   llvm::any_of(function.getResultTypes(), isTensor);
        return found ? mlir::WalkResult::interrupt() : mlir::WalkResult::advance();
      })
      .wasInterrupted();
}

Outcome<std::vector<Signature>> Program::signatures() const {
  std::vector<Signature> result;
  for (auto function : module().getOps<mlir::FunctionOpInterface>()) {
    if (!isEntry(function))
      continue;
    if (!llvm::json::isUTF8(function.getName()))
      return Failure{Kind::Unsupported, "the name of function @" +
                                            llvm::json::fixUTF8(function.getName()) +
                                            " is not UTF-8"};
    result.push_back(describe(function));
  }
  return result;
}

} // namespace twinjit
