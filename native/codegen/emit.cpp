#include "codegen/emit.h"

#include "codegen/admission.h"
#include "codegen/interrupt.h"
#include "codegen/machine.h"
#include "codegen/retarget.h"
#include "common/activity.h"
#include "common/clock.h"
#include "common/diagnostics.h"
#include "common/symbols.h"
#include "llvmir/debug_info.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Intrinsics.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Target/TargetOptions.h"

#include <optional>

namespace twinjit {
namespace {

llvm::CodeGenOptLevel codegenLevel(unsigned level) {
  return llvm::CodeGenOpt::getLevel(static_cast<int>(level))
      .value_or(llvm::CodeGenOptLevel::Default);
}

Outcome<std::unique_ptr<llvm::TargetMachine>> makeMachine(const EmitOptions &options) {
  const Target &wanted = options.target;
  auto backend = findBackend(wanted);
  if (!backend)
    return backend.failure();
  llvm::TargetOptions codegen;
  // A function without any instruction has no content that JITLink could place.
  codegen.TrapUnreachable = true;
  auto machine = std::unique_ptr<llvm::TargetMachine>(backend->generator->createTargetMachine(
      llvm::Triple(wanted.triple), wanted.cpu, wanted.features, codegen, llvm::Reloc::PIC_,
      llvm::CodeModel::Small, codegenLevel(options.optLevel), /*JIT=*/true));
  if (!machine)
    return Failure{Kind::Target, "LLVM cannot generate code for '" + wanted.triple + "'"};
  return machine;
}

/// Drop copies that an analysis has made, and does not remove, of values; only the optimiser would.
void dropCopies(llvm::Module &module) {
  for (llvm::Function &function : llvm::make_early_inc_range(module)) {
    if (function.getIntrinsicID() != llvm::Intrinsic::ssa_copy)
      continue;
    for (llvm::User *user : llvm::make_early_inc_range(function.users())) {
      auto *call = llvm::cast<llvm::CallInst>(user);
      call->replaceAllUsesWith(call->getArgOperand(0));
      call->eraseFromParent();
    }
    function.eraseFromParent();
  }
}

/// Drop what does not reach the code but would reach the object's bytes. JITLink has no use for
/// debug information, and LLVM writes it without checking it: a subprogram without a type ends the
/// process.
void normalise(llvm::Module &module) {
  llvmir::dropDebugInfo(module);
  dropCopies(module);
  module.setModuleIdentifier("twinjit");
  module.setSourceFileName("twinjit");
}

/// Reads and writes one call's scalars in consecutive 8-byte slots.
class SlotAccess {
public:
  SlotAccess(llvm::IRBuilder<> &builder, llvm::Value *slots) : builder(builder), slots(slots) {}

  /// Load a value of `type`; null when it holds something a slot cannot.
  llvm::Value *load(llvm::Type *type) {
    if (unsigned count = elements(type)) {
      llvm::Value *whole = llvm::PoisonValue::get(type);
      for (unsigned i = 0; i != count; ++i) {
        llvm::Value *field = load(elementType(type, i));
        if (!field)
          return nullptr;
        whole = builder.CreateInsertValue(whole, field, i);
      }
      return whole;
    }
    if (!fits(type))
      return nullptr;
    if (type->isIntegerTy())
      return builder.CreateTrunc(builder.CreateLoad(builder.getInt64Ty(), next()), type);
    return builder.CreateLoad(type, next());
  }

  /// Store `value`; false when it holds something a slot cannot.
  bool store(llvm::Value *value) {
    llvm::Type *type = value->getType();
    if (unsigned count = elements(type)) {
      for (unsigned i = 0; i != count; ++i)
        if (!store(builder.CreateExtractValue(value, i)))
          return false;
      return true;
    }
    if (!fits(type))
      return false;
    if (type->isIntegerTy())
      value = builder.CreateZExt(value, builder.getInt64Ty());
    builder.CreateStore(value, next());
    return true;
  }

  unsigned used() const { return index; }

private:
  static unsigned elements(llvm::Type *type) {
    if (auto *array = llvm::dyn_cast<llvm::ArrayType>(type))
      return array->getNumElements();
    return type->isStructTy() ? type->getStructNumElements() : 0;
  }

  static llvm::Type *elementType(llvm::Type *type, unsigned index) {
    return type->isStructTy() ? type->getStructElementType(index) : type->getArrayElementType();
  }

  static bool fits(llvm::Type *type) {
    return (type->isIntegerTy() && type->getIntegerBitWidth() <= 64) || type->isPointerTy() ||
           type->isHalfTy() || type->isBFloatTy() || type->isFloatTy() || type->isDoubleTy();
  }

  llvm::Value *next() {
    return builder.CreateConstInBoundsGEP1_64(builder.getInt64Ty(), slots, index++);
  }

  llvm::IRBuilder<> &builder;
  llvm::Value *slots;
  unsigned index = 0;
};

/// Define callSymbol(name): load the arguments, call, store the results.
Outcome<Entry> addEntry(llvm::Module &module, const std::string &name) {
  llvm::Function *callee = module.getFunction(programSymbol(name));
  if (!callee || callee->isDeclaration())
    return Failure{Kind::Lowering, "lowering lost the function '" + name + "'"};
  llvm::LLVMContext &context = module.getContext();
  // C's bool is a byte, of which LLVM would set but one bit.
  if (callee->getReturnType()->isIntegerTy(1) && !callee->hasRetAttribute(llvm::Attribute::SExt))
    callee->addRetAttr(llvm::Attribute::ZExt);
  auto *type = llvm::FunctionType::get(llvm::Type::getVoidTy(context),
                                       {llvm::PointerType::getUnqual(context)}, false);
  auto *entry =
      llvm::Function::Create(type, llvm::Function::ExternalLinkage, callSymbol(name), module);
  for (llvm::StringRef name : {"target-cpu", "target-features"}) // may ask for less than the target
    entry->addFnAttr(callee->getFnAttribute(name));
  entry->addParamAttr(0, llvm::Attribute::NoAlias);
  llvm::IRBuilder<> builder(llvm::BasicBlock::Create(context, "", entry));
  SlotAccess slots(builder, entry->getArg(0));
  llvm::SmallVector<llvm::Value *> arguments;
  for (llvm::Argument &argument : callee->args()) {
    llvm::Value *value = slots.load(argument.getType());
    if (!value)
      return Failure{Kind::Lowering, "argument " + std::to_string(argument.getArgNo()) + " of '" +
                                         name + "' has a type that a call cannot pass"};
    arguments.push_back(value);
  }
  unsigned argumentSlots = slots.used();
  llvm::CallInst *call = builder.CreateCall(callee, arguments);
  call->setCallingConv(callee->getCallingConv());
  llvm::AttributeList attributes = callee->getAttributes();
  call->setAttributes(attributes.removeFnAttributes(context));
  if (!call->getType()->isVoidTy() && !slots.store(call))
    return Failure{Kind::Lowering, "'" + name + "' returns a type that a call cannot take"};
  builder.CreateRetVoid();
  return Entry{name, argumentSlots, slots.used() - argumentSlots};
}

std::optional<Failure> optimise(llvm::Module &module, llvm::TargetMachine &machine, unsigned level,
                                const Stop &stop) {
  static const llvm::OptimizationLevel kLevels[] = {
      llvm::OptimizationLevel::O0, llvm::OptimizationLevel::O1, llvm::OptimizationLevel::O2,
      llvm::OptimizationLevel::O3};
  llvm::PipelineTuningOptions tuning;
  tuning.LoopVectorization = level >= 2;
  tuning.SLPVectorization = level >= 2;
  tuning.LoopInterleaving = level >= 2;
  llvm::PassInstrumentationCallbacks callbacks;
  std::string skipped;
  interruptOptimiser(callbacks, stop, skipped);
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager callGraph;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder(&machine, tuning, std::nullopt, &callbacks);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(callGraph);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, callGraph, modules);
  llvm::ModulePassManager passes = level == 0
                                       ? builder.buildO0DefaultPipeline(kLevels[0])
                                       : builder.buildPerModuleDefaultPipeline(kLevels[level]);
  passes.run(module, modules);
  if (stop.isRequested())
    return stop.failure("optimise", skipped);
  return std::nullopt;
}

Outcome<std::string> generate(llvm::Module &module, llvm::TargetMachine &machine,
                              const Stop &stop) {
  llvm::SmallVector<char, 0> object;
  llvm::raw_svector_ostream stream(object);
  InterruptiblePassManager passes(stop);
  if (machine.addPassesToEmitFile(passes, stream, nullptr, llvm::CodeGenFileType::ObjectFile))
    return Failure{Kind::Emission, "LLVM cannot write object files for this target"};
  passes.run(module);
  if (stop.isRequested())
    return stop.failure("codegen", passes.stoppedAt());
  return std::string(object.begin(), object.end());
}

bool hasError(const std::vector<Diagnostic> &diagnostics) {
  return std::any_of(diagnostics.begin(), diagnostics.end(),
                     [](const Diagnostic &d) { return d.severity == "error"; });
}

Outcome<Emitted> emitModule(llvm::Module &module, const EmitOptions &options,
                            llvm::TargetMachine &machine, const Stop &stop) {
  normalise(module);
  if (std::string why = retarget(module, options.target, machine); !why.empty())
    return Failure{Kind::Target, why};
  Emitted emitted;
  for (const std::string &name : options.entries) {
    auto entry = addEntry(module, name);
    if (!entry)
      return entry.failure();
    emitted.entries.push_back(*entry);
  }
  std::string text;
  llvm::raw_string_ostream stream(text);
  if (llvm::verifyModule(module, &stream))
    return Failure{Kind::Emission, "the LLVM IR is invalid: " + text};
  if (std::string why = whyRefused(module); !why.empty())
    return Failure{Kind::Emission, why};
  if (stop.isRequested())
    return stop.failure();
  auto start = Clock::now();
  notePhase("optimise");
  if (auto failure = optimise(module, machine, options.optLevel, stop))
    return std::move(*failure);
  emitted.optimiseSeconds = secondsSince(start);
  start = Clock::now();
  notePhase("codegen");
  auto object = generate(module, machine, stop);
  if (!object)
    return object.failure();
  emitted.codegenSeconds = secondsSince(start);
  if (std::string why = whyUnlinkable(*object); !why.empty())
    return Failure{Kind::Emission, why};
  emitted.object = std::move(*object);
  return emitted;
}

} // namespace

Outcome<Emitted> emit(llvm::StringRef bitcode, const EmitOptions &options, const Stop &stop) {
  auto machine = makeMachine(options);
  if (!machine)
    return machine.failure();
  std::vector<Diagnostic> diagnostics;
  InterruptGate gate(stop); // outlives the context, which refers to it
  llvm::LLVMContext context;
  context.setOptPassGate(gate);
  context.setDiscardValueNames(true);
  context.setDiagnosticHandler(std::make_unique<DiagnosticCollector>(diagnostics));
  auto module = llvm::parseBitcodeFile(llvm::MemoryBufferRef(bitcode, "twinjit"), context);
  if (!module)
    return Failure{Kind::Emission, "cannot read the bitcode: " + llvm::toString(module.takeError()),
                   diagnostics};
  auto emitted = emitModule(**module, options, **machine, stop);
  if (!emitted) {
    emitted.failure().diagnostics = std::move(diagnostics);
    return emitted.failure();
  }
  if (hasError(diagnostics))
    return Failure{Kind::Emission, "LLVM refused the program", std::move(diagnostics)};
  return emitted;
}

} // namespace twinjit
