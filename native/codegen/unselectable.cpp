#include "codegen/unselectable.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"

namespace twinjit {
namespace {

/// Intrinsics that passes lower which do not run here, or that no code is made of.
constexpr llvm::StringLiteral kNeverLowered[] = {"llvm.matrix.",
                                                 "llvm.instrprof.",
                                                 "llvm.type.checked.load",
                                                 "llvm.experimental.guard",
                                                 "llvm.experimental.widenable.condition",
                                                 "llvm.fptrunc.round",
                                                 "llvm.sponentry",
                                                 "llvm.eh.sjlj.callsite",
                                                 "llvm.call.preallocated."};

/// Those of coroutines, outside of one.
bool isStray(const llvm::Function &function, llvm::StringRef name) {
  return name.starts_with("llvm.coro.") && !function.isPresplitCoroutine();
}

/// Bundles that a call can be lowered with.
bool isKnownBundle(uint32_t tag) {
  return llvm::is_contained({llvm::LLVMContext::OB_deopt, llvm::LLVMContext::OB_funclet,
                             llvm::LLVMContext::OB_cfguardtarget, llvm::LLVMContext::OB_kcfi,
                             llvm::LLVMContext::OB_convergencectrl,
                             llvm::LLVMContext::OB_gc_transition, llvm::LLVMContext::OB_gc_live},
                            tag);
}

bool hasScalable(const llvm::Type *type) {
  return llvm::isa<llvm::ScalableVectorType>(type) || llvm::any_of(type->subtypes(), hasScalable);
}

bool hasExtension(const llvm::Type *type) {
  return llvm::isa<llvm::TargetExtType>(type) || llvm::any_of(type->subtypes(), hasExtension);
}

std::string whyUnusable(const llvm::Type *type) {
  if (hasScalable(type))
    return "scalable vectors are not for this target";
  return hasExtension(type) ? "types of other targets are not for this one" : "";
}

bool isWideFloat(const llvm::Type *type) {
  return type->getScalarType()->isFP128Ty() || type->getScalarType()->isX86_FP80Ty();
}

/// Whether `$` in assembly is followed by what LLVM expects there.
std::string whyUnusable(llvm::StringRef assembly, unsigned operands) {
  for (size_t at = assembly.find('$'); at != llvm::StringRef::npos;
       at = assembly.find('$', at + 1)) {
    llvm::StringRef rest = assembly.drop_front(at + 1);
    if (rest.consume_front("$") || rest.starts_with("(")) {
      ++at;
      continue;
    }
    bool isBraced = rest.consume_front("{");
    if (isBraced && rest.starts_with(":"))
      continue;
    unsigned number = 0;
    if ((isBraced && !rest.contains('}')) ||
        (llvm::isDigit(rest.empty() ? ' ' : rest.front()) &&
         (rest.consumeInteger(10, number) || number >= operands)))
      return "assembly '" + assembly.str() + "' names an operand that it does not have";
  }
  return "";
}

/// Whether a value fits registers; a structure of results is one of several.
bool isOperand(const llvm::Type *type) {
  const llvm::Type *scalar = type->getScalarType();
  bool isOdd = scalar->isIntegerTy() &&
               !llvm::is_contained({1u, 8u, 16u, 32u, 64u, 128u}, scalar->getIntegerBitWidth());
  return !isOdd && !type->isAggregateType();
}

bool areOperands(const llvm::FunctionType &type) {
  const llvm::Type *result = type.getReturnType();
  const auto *several = llvm::dyn_cast<llvm::StructType>(result);
  return llvm::all_of(type.params(), isOperand) &&
         (several ? llvm::all_of(several->elements(), isOperand) : isOperand(result));
}

std::string whyUnusable(const llvm::InlineAsm &assembly) {
  unsigned operands = 0;
  bool isInMemory = false;
  for (const auto &constraint : assembly.ParseConstraints()) {
    operands += constraint.Type != llvm::InlineAsm::isClobber;
    isInMemory |= constraint.Type == llvm::InlineAsm::isOutput && !constraint.isIndirect &&
                  llvm::is_contained({"m", "o", "V"}, llvm::join(constraint.Codes, ","));
  }
  if (isInMemory)
    return "assembly '" + assembly.getAsmString().str() + "' returns what it writes to memory";
  if (!areOperands(*assembly.getFunctionType()))
    return "assembly '" + assembly.getAsmString().str() + "' has operands that fit no registers";
  return whyUnusable(assembly.getAsmString(), operands);
}

/// The optimiser reads an option's name without looking whether there is one.
std::string whyUnusable(const llvm::MDNode *loop) {
  if (!loop || loop->getNumOperands() == 0)
    return "";
  bool isBad = llvm::any_of(llvm::drop_begin(loop->operands()), [](const llvm::MDOperand &each) {
    const auto *option = llvm::dyn_cast_or_null<llvm::MDNode>(each.get());
    return option && option->getNumOperands() != 0 && !option->getOperand(0);
  });
  return isBad ? "it has an option of a loop without a name" : "";
}

bool touches(const llvm::CallBase &call, llvm::function_ref<bool(const llvm::Type *)> is) {
  return is(call.getType()->getScalarType()) ||
         llvm::any_of(call.args(), [&](const llvm::Use &argument) {
           return is(argument->getType()->getScalarType());
         });
}

/// Of strict arithmetic, what half-precision numbers have.
bool isStrictOnHalf(llvm::Intrinsic::ID intrinsic) {
  switch (intrinsic) {
  case llvm::Intrinsic::experimental_constrained_fadd:
  case llvm::Intrinsic::experimental_constrained_fsub:
  case llvm::Intrinsic::experimental_constrained_fmul:
  case llvm::Intrinsic::experimental_constrained_fdiv:
  case llvm::Intrinsic::experimental_constrained_fma:
  case llvm::Intrinsic::experimental_constrained_sqrt:
  case llvm::Intrinsic::experimental_constrained_rint:
  case llvm::Intrinsic::experimental_constrained_fptrunc:
  case llvm::Intrinsic::experimental_constrained_fpext:
  case llvm::Intrinsic::experimental_constrained_fcmp:
  case llvm::Intrinsic::experimental_constrained_fcmps:
  case llvm::Intrinsic::experimental_constrained_fptosi:
  case llvm::Intrinsic::experimental_constrained_fptoui:
  case llvm::Intrinsic::experimental_constrained_sitofp:
  case llvm::Intrinsic::experimental_constrained_uitofp:
    return true;
  default:
    return false;
  }
}

std::string whyUnusable(const llvm::ConstrainedFPIntrinsic &call) {
  llvm::Intrinsic::ID intrinsic = call.getIntrinsicID();
  bool isMissing = intrinsic == llvm::Intrinsic::experimental_constrained_minimum ||
                   intrinsic == llvm::Intrinsic::experimental_constrained_maximum ||
                   touches(call, [](const llvm::Type *type) { return type->isBFloatTy(); }) ||
                   (!isStrictOnHalf(intrinsic) &&
                    touches(call, [](const llvm::Type *type) { return type->isHalfTy(); }));
  return isMissing ? call.getCalledFunction()->getName().str() + " is not for this type" : "";
}

/// LLVM looks for a register by its name, and not whether it is as wide as asked for.
std::string whyUnusable(const llvm::IntrinsicInst &access, const llvm::Type *type) {
  auto *node = llvm::cast<llvm::MDNode>(
      llvm::cast<llvm::MetadataAsValue>(access.getArgOperand(0))->getMetadata());
  auto *name = llvm::dyn_cast_or_null<llvm::MDString>(node->getOperand(0));
  llvm::StringRef text = name ? name->getString() : "";
  unsigned bits = text.starts_with("r") ? 64 : text.starts_with("e") ? 32 : 0;
  if (bits && type->isIntegerTy(bits))
    return "";
  return "there is no register '" + text.str() + "' of this width";
}

std::string whyUnusable(const llvm::IntrinsicInst &call) {
  llvm::StringRef name = call.getCalledFunction()->getName();
  llvm::Type *type = call.getType();
  if (auto *strict = llvm::dyn_cast<llvm::ConstrainedFPIntrinsic>(&call))
    return whyUnusable(*strict);
  switch (call.getIntrinsicID()) {
  case llvm::Intrinsic::minimum:
  case llvm::Intrinsic::maximum:
    return isWideFloat(type) ? name.str() + " is not for this type" : "";
  case llvm::Intrinsic::canonicalize:
    return type->isVectorTy() && type->getScalarType()->isBFloatTy()
               ? name.str() + " is not for this type"
               : "";
  case llvm::Intrinsic::fptosi_sat:
  case llvm::Intrinsic::fptoui_sat:
    return type->getScalarSizeInBits() > 128 ? name.str() + " is not for this type" : "";
  case llvm::Intrinsic::read_register:
  case llvm::Intrinsic::read_volatile_register:
    return whyUnusable(call, type);
  case llvm::Intrinsic::write_register:
    return whyUnusable(call, call.getArgOperand(1)->getType());
  default:
    break;
  }
  bool isLeft = isStray(*call.getFunction(), name) ||
                llvm::any_of(kNeverLowered, [&](auto each) { return name.starts_with(each); });
  return isLeft ? name.str() + " is lowered by passes that do not run here" : "";
}

bool canTakeMore(llvm::CallingConv::ID convention) {
  return convention != llvm::CallingConv::Tail && convention != llvm::CallingConv::SwiftTail &&
         convention != llvm::CallingConv::GHC && convention != llvm::CallingConv::X86_RegCall;
}

std::string whyUnusable(const llvm::CallBase &call) {
  if (auto *assembly = llvm::dyn_cast<llvm::InlineAsm>(call.getCalledOperand()))
    return whyUnusable(*assembly);
  if (call.getFunctionType()->isVarArg() && !canTakeMore(call.getCallingConv()))
    return "its calling convention has no variable arguments";
  if (auto *intrinsic = llvm::dyn_cast<llvm::IntrinsicInst>(&call)) {
    if (intrinsic->getIntrinsicID() == llvm::Intrinsic::assume)
      return ""; // its bundles are any
    if (std::string why = whyUnusable(*intrinsic); !why.empty())
      return why;
  }
  for (unsigned i = 0; i != call.getNumOperandBundles(); ++i)
    if (!isKnownBundle(call.getOperandBundleAt(i).getTagID()))
      return "calls with a bundle '" + call.getOperandBundleAt(i).getTagName().str() +
             "' are not for this target";
  return "";
}

std::string whyUnusable(const llvm::AtomicRMWInst &update) {
  bool isMissing = update.getOperation() == llvm::AtomicRMWInst::FMaximum ||
                   update.getOperation() == llvm::AtomicRMWInst::FMinimum;
  return isMissing && isWideFloat(update.getType())
             ? "atomicrmw " + llvm::AtomicRMWInst::getOperationName(update.getOperation()).str() +
                   " is not for this type"
             : "";
}

std::string whyUnusable(const llvm::Instruction &instruction) {
  if (std::string why = whyUnusable(instruction.getType()); !why.empty())
    return why;
  for (const llvm::Value *operand : instruction.operand_values())
    if (std::string why = whyUnusable(operand->getType()); !why.empty())
      return why;
  if (instruction.isTerminator())
    if (std::string why = whyUnusable(instruction.getMetadata(llvm::LLVMContext::MD_loop));
        !why.empty())
      return why;
  if (auto *allocation = llvm::dyn_cast<llvm::AllocaInst>(&instruction))
    return whyUnusable(allocation->getAllocatedType());
  if (auto *call = llvm::dyn_cast<llvm::CallBase>(&instruction))
    return whyUnusable(*call);
  if (auto *update = llvm::dyn_cast<llvm::AtomicRMWInst>(&instruction))
    return whyUnusable(*update);
  if (llvm::isa<llvm::VAArgInst>(instruction) && !instruction.getType()->isSingleValueType())
    return "va_arg of an aggregate is not for this target";
  auto *load = llvm::dyn_cast<llvm::LoadInst>(&instruction);
  auto *store = llvm::dyn_cast<llvm::StoreInst>(&instruction);
  bool isAtomicVector =
      (load && load->isAtomic() && load->getType()->isVectorTy()) ||
      (store && store->isAtomic() && store->getValueOperand()->getType()->isVectorTy());
  return isAtomicVector ? "atomic accesses to vectors are not for this target" : "";
}

} // namespace

std::string whyUnselectable(const llvm::Function &function) {
  std::string why = whyUnusable(function.getFunctionType());
  if (why.empty() && function.isVarArg() && !canTakeMore(function.getCallingConv()))
    why = "its calling convention has no variable arguments";
  for (const llvm::Instruction &instruction : llvm::instructions(function)) {
    if (!why.empty())
      break;
    why = whyUnusable(instruction);
  }
  return why;
}

} // namespace twinjit
