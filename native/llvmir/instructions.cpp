// Fields of instructions and debug records.
#include "llvmir/field_names.h"
#include "llvmir/walk.h"

#include "llvm/IR/DebugProgramInstruction.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Operator.h"
#include "llvm/Support/AtomicOrdering.h"

namespace twinjit::llvmir {
namespace {

/// The flags of an instruction in LLVM's words.
std::string flagsOf(const llvm::Instruction &instruction) {
  std::string words;
  auto add = [&](bool isSet, llvm::StringRef word) {
    if (isSet)
      words += (words.empty() ? "" : " ") + word.str();
  };
  if (auto *math = llvm::dyn_cast<llvm::FPMathOperator>(&instruction)) {
    llvm::raw_string_ostream stream(words);
    math->getFastMathFlags().print(stream);
    return llvm::StringRef(words).trim().str();
  }
  if (auto *wrapping = llvm::dyn_cast<llvm::OverflowingBinaryOperator>(&instruction)) {
    add(wrapping->hasNoUnsignedWrap(), "nuw");
    add(wrapping->hasNoSignedWrap(), "nsw");
  } else if (auto *truncation = llvm::dyn_cast<llvm::TruncInst>(&instruction)) {
    add(truncation->hasNoUnsignedWrap(), "nuw");
    add(truncation->hasNoSignedWrap(), "nsw");
  } else if (auto *address = llvm::dyn_cast<llvm::GetElementPtrInst>(&instruction)) {
    add(address->isInBounds(), "inbounds");
    add(!address->isInBounds() && address->hasNoUnsignedSignedWrap(), "nusw");
    add(address->hasNoUnsignedWrap(), "nuw");
  } else if (auto *exact = llvm::dyn_cast<llvm::PossiblyExactOperator>(&instruction)) {
    add(exact->isExact(), "exact");
  } else if (auto *disjoint = llvm::dyn_cast<llvm::PossiblyDisjointInst>(&instruction)) {
    add(disjoint->isDisjoint(), "disjoint");
  } else if (auto *extension = llvm::dyn_cast<llvm::PossiblyNonNegInst>(&instruction)) {
    add(extension->hasNonNeg(), "nneg");
  } else if (auto *comparison = llvm::dyn_cast<llvm::ICmpInst>(&instruction)) {
    add(comparison->hasSameSign(), "samesign");
  }
  return words;
}

bool isCommutative(const llvm::Instruction &instruction) {
  if (auto *comparison = llvm::dyn_cast<llvm::CmpInst>(&instruction))
    return comparison->isCommutative();
  auto *call = llvm::dyn_cast<llvm::CallBase>(&instruction);
  if (!call)
    return instruction.isCommutative();
  return llvm::isa<llvm::IntrinsicInst>(call) && instruction.isCommutative() &&
         call->getParamAttributes(0) == call->getParamAttributes(1);
}

llvm::StringRef tailOf(const llvm::CallInst &call) {
  static constexpr llvm::StringLiteral kWords[] = {"", "tail", "musttail", "notail"};
  return kWords[call.getTailCallKind()];
}

} // namespace

void Walk::describe(const llvm::Instruction &instruction) {
  if (!policy.ignoreLocations)
    for (const llvm::DbgRecord &record : instruction.getDbgRecordRange())
      describe(record);
  else if (llvm::isa<llvm::DbgInfoIntrinsic>(instruction))
    return;
  const llvm::DebugLoc &location = instruction.getDebugLoc();
  sink.begin({NodeKind::Instruction, instruction.getOpcodeName(), "", location.get()});
  if (!instruction.getType()->isVoidTy()) {
    sink.define(numberOf(&instruction));
    type(names::kResultType, instruction.getType());
  }
  if (unsigned flags = instruction.getRawSubclassOptionalData()) {
    fields.clear();
    fields.number(flags);
    emit(names::kFlags, fields, [&](llvm::raw_ostream &stream, llvm::ModuleSlotTracker &) {
      stream << flagsOf(instruction);
    });
  }
  describeDetails(instruction);
  describeOperands(instruction);
  llvm::SmallVector<std::pair<unsigned, llvm::MDNode *>, 4> list;
  if (instruction.hasMetadataOtherThanDebugLoc())
    instruction.getAllMetadataOtherThanDebugLoc(list);
  attachments(instruction, list);
  if (location && !policy.ignoreLocations)
    metadata(names::kLocation, location.get());
  sink.end();
}

/// What an instruction has besides type, flags, operands and metadata.
void Walk::describeDetails(const llvm::Instruction &instruction) {
  if (auto *comparison = llvm::dyn_cast<llvm::CmpInst>(&instruction)) {
    word(names::kPredicate, llvm::CmpInst::getPredicateName(comparison->getPredicate()));
  } else if (auto *address = llvm::dyn_cast<llvm::GetElementPtrInst>(&instruction)) {
    type(names::kElementType, address->getSourceElementType());
  } else if (auto *call = llvm::dyn_cast<llvm::CallBase>(&instruction)) {
    describeCall(*call);
  } else if (auto *extraction = llvm::dyn_cast<llvm::ExtractValueInst>(&instruction)) {
    indices(extraction->getIndices());
  } else if (auto *insertion = llvm::dyn_cast<llvm::InsertValueInst>(&instruction)) {
    indices(insertion->getIndices());
  } else if (auto *shuffle = llvm::dyn_cast<llvm::ShuffleVectorInst>(&instruction)) {
    fields.clear();
    for (int lane : shuffle->getShuffleMask())
      fields.number(static_cast<uint32_t>(lane)); // -1 for poison
    emit(names::kMask, fields, [&](llvm::raw_ostream &stream, llvm::ModuleSlotTracker &) {
      llvm::interleaveComma(shuffle->getShuffleMask(), stream);
    });
  } else if (auto *pad = llvm::dyn_cast<llvm::LandingPadInst>(&instruction)) {
    flag(names::kCleanup, pad->isCleanup());
    for (unsigned i = 0; i != pad->getNumClauses(); ++i)
      flag(names::kFilter.at(i), pad->isFilter(i));
  } else {
    describeMemory(instruction);
  }
}

void Walk::describeMemory(const llvm::Instruction &instruction) {
  if (auto *allocation = llvm::dyn_cast<llvm::AllocaInst>(&instruction)) {
    type(names::kElementType, allocation->getAllocatedType());
    number(names::kAlignment, allocation->getAlign().value());
    flag(names::kInAlloca, allocation->isUsedWithInAlloca());
    flag(names::kSwiftError, allocation->isSwiftError());
  } else if (auto *load = llvm::dyn_cast<llvm::LoadInst>(&instruction)) {
    number(names::kAlignment, load->getAlign().value());
    flag(names::kVolatile, load->isVolatile());
    if (load->isAtomic()) {
      word(names::kOrdering, llvm::toIRString(load->getOrdering()));
      scope(load->getSyncScopeID());
    }
  } else if (auto *store = llvm::dyn_cast<llvm::StoreInst>(&instruction)) {
    number(names::kAlignment, store->getAlign().value());
    flag(names::kVolatile, store->isVolatile());
    if (store->isAtomic()) {
      word(names::kOrdering, llvm::toIRString(store->getOrdering()));
      scope(store->getSyncScopeID());
    }
  } else {
    describeAtomic(instruction);
  }
}

void Walk::describeAtomic(const llvm::Instruction &instruction) {
  if (auto *fence = llvm::dyn_cast<llvm::FenceInst>(&instruction)) {
    word(names::kOrdering, llvm::toIRString(fence->getOrdering()));
    scope(fence->getSyncScopeID());
  } else if (auto *exchange = llvm::dyn_cast<llvm::AtomicCmpXchgInst>(&instruction)) {
    number(names::kAlignment, exchange->getAlign().value());
    flag(names::kVolatile, exchange->isVolatile());
    flag(names::kWeak, exchange->isWeak());
    word(names::kOrdering, llvm::toIRString(exchange->getSuccessOrdering()));
    word(names::kFailureOrdering, llvm::toIRString(exchange->getFailureOrdering()));
    scope(exchange->getSyncScopeID());
  } else if (auto *update = llvm::dyn_cast<llvm::AtomicRMWInst>(&instruction)) {
    word(names::kOperation, llvm::AtomicRMWInst::getOperationName(update->getOperation()));
    number(names::kAlignment, update->getAlign().value());
    flag(names::kVolatile, update->isVolatile());
    word(names::kOrdering, llvm::toIRString(update->getOrdering()));
    scope(update->getSyncScopeID());
  }
}

void Walk::describeCall(const llvm::CallBase &call) {
  type(names::kCallType, call.getFunctionType());
  if (call.getCallingConv() != llvm::CallingConv::C)
    number(names::kConvention, call.getCallingConv());
  if (auto *plain = llvm::dyn_cast<llvm::CallInst>(&call))
    wordUnlessEmpty(names::kTail, tailOf(*plain));
  attributes(call.getAttributes());
}

void Walk::describeOperands(const llvm::Instruction &instruction) {
  if (auto *phi = llvm::dyn_cast<llvm::PHINode>(&instruction))
    return describePhi(*phi);
  if (auto *branch = llvm::dyn_cast<llvm::SwitchInst>(&instruction))
    return describeSwitch(*branch);
  if (auto *call = llvm::dyn_cast<llvm::CallBase>(&instruction))
    return describeCallOperands(*call);
  unsigned start = 0;
  if (policy.ignoreOperandOrder && isCommutative(instruction)) {
    describeCommutative(instruction);
    start = 2;
  }
  unsigned operands = 0, successors = 0;
  for (const llvm::Value *operand : llvm::drop_begin(instruction.operand_values(), start)) {
    bool isBlock = llvm::isa<llvm::BasicBlock>(operand);
    value(isBlock ? names::kSuccessor.at(successors++) : names::kOperand.at(start + operands++),
          operand);
  }
}

void Walk::describeCallOperands(const llvm::CallBase &call) {
  value(names::kCallee, call.getCalledOperand());
  unsigned start = 0;
  if (policy.ignoreOperandOrder && isCommutative(call)) {
    describeCommutative(call);
    start = 2;
  }
  for (unsigned i = start; i != call.arg_size(); ++i)
    value(names::kArgument.at(i), call.getArgOperand(i));
  for (unsigned i = 0; i != call.getNumOperandBundles(); ++i) {
    llvm::OperandBundleUse bundle = call.getOperandBundleAt(i);
    fields.clear();
    fields.string(bundle.getTagName());
    fields.number(bundle.Inputs.size());
    for (const llvm::Use &input : bundle.Inputs)
      contentOf(input.get(), fields);
    emit(names::kBundle.at(i), fields,
         [&](llvm::raw_ostream &stream, llvm::ModuleSlotTracker &slots) {
           stream << bundle.getTagName() << '(';
           llvm::interleaveComma(bundle.Inputs, stream, [&](const llvm::Use &input) {
             input->printAsOperand(stream, /*PrintType=*/true, slots);
           });
           stream << ')';
         });
  }
  for (unsigned i = 0; call.isTerminator() && i != call.getNumSuccessors(); ++i)
    value(names::kSuccessor.at(i), call.getSuccessor(i));
}

void Walk::describePhi(const llvm::PHINode &phi) {
  for (unsigned i = 0; i != phi.getNumIncomingValues(); ++i) {
    value(names::kOperand.at(i), phi.getIncomingValue(i));
    value(names::kIncomingBlock.at(i), phi.getIncomingBlock(i));
  }
}

void Walk::describeSwitch(const llvm::SwitchInst &instruction) {
  value(names::kOperand, instruction.getCondition());
  value(names::kSuccessor, instruction.getDefaultDest());
  for (const auto &each : instruction.cases()) {
    value(names::kCase.at(each.getCaseIndex()), each.getCaseValue());
    value(names::kSuccessor.at(each.getCaseIndex()), each.getCaseSuccessor());
  }
}

/// Operands 0 and 1, in an order that is the same for both of theirs.
void Walk::describeCommutative(const llvm::Instruction &instruction) {
  Fields first, second;
  contentOf(instruction.getOperand(0), first);
  contentOf(instruction.getOperand(1), second);
  bool isSwapped = sortKey(second) < sortKey(first);
  if (isSwapped)
    sink.swapped(instruction);
  FieldName name = llvm::isa<llvm::CallBase>(instruction) ? names::kArgument : names::kOperand;
  value(name.at(0), instruction.getOperand(isSwapped ? 1 : 0));
  value(name.at(1), instruction.getOperand(isSwapped ? 0 : 1));
}

void Walk::describe(const llvm::DbgRecord &record) {
  auto *variable = llvm::dyn_cast<llvm::DbgVariableRecord>(&record);
  if (!variable) {
    sink.begin({NodeKind::DebugRecord, "dbg_label", "", record.getDebugLoc().get()});
    metadata(names::kDebugLabel, llvm::cast<llvm::DbgLabelRecord>(record).getLabel());
  } else {
    static constexpr llvm::StringLiteral kLabels[] = {"dbg_declare", "dbg_value", "dbg_assign",
                                                      "dbg_declare_value"};
    sink.begin({NodeKind::DebugRecord, kLabels[static_cast<int>(variable->getType())], "",
                record.getDebugLoc().get()});
    metadata(names::kValueLocation, variable->getRawLocation());
    metadata(names::kVariable, variable->getRawVariable());
    metadata(names::kExpression, variable->getRawExpression());
    if (variable->isDbgAssign()) {
      metadata(names::kAssignment, variable->getRawAssignID());
      metadata(names::kAddress, variable->getRawAddress());
      metadata(names::kAddressExpression, variable->getRawAddressExpression());
    }
  }
  metadata(names::kLocation, record.getDebugLoc().get());
  sink.end();
}

void Walk::indices(llvm::ArrayRef<unsigned> places) {
  fields.clear();
  for (unsigned place : places)
    fields.number(place);
  emit(names::kIndices, fields, [&](llvm::raw_ostream &stream, llvm::ModuleSlotTracker &) {
    llvm::interleaveComma(places, stream);
  });
}

void Walk::scope(llvm::SyncScope::ID id) { wordUnlessEmpty(names::kScope, scopes[id]); }

} // namespace twinjit::llvmir
