#include "lazy/stub.h"

#include "codegen/runtime.h"
#include "lazy/forwarding.h"

#include "llvm/IR/Attributes.h"
#include "llvm/IR/DataLayout.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/MDBuilder.h"

namespace twinjit::lazy {
namespace {

/// Of a caller, what decides which registers arguments and results travel in. What is inlined
/// without them takes them from the caller, too.
constexpr llvm::StringLiteral kFormAttributes[] = {"target-cpu", "target-features",
                                                   "min-legal-vector-width", "prefer-vector-width",
                                                   "use-soft-float"};

/// Of a result, what decides in which form it travels. All else is a promise.
llvm::AttributeSet formOfResult(llvm::LLVMContext &context, llvm::AttributeSet all) {
  llvm::AttrBuilder kept(context);
  for (llvm::Attribute::AttrKind kind : {llvm::Attribute::ZExt, llvm::Attribute::SExt,
                                         llvm::Attribute::NoExt, llvm::Attribute::InReg})
    if (all.hasAttribute(kind))
      kept.addAttribute(kind);
  return llvm::AttributeSet::get(context, kept);
}

/// The function's attributes without those of its body and its result.
llvm::AttributeList formOf(llvm::LLVMContext &context, llvm::AttributeList all, unsigned count) {
  llvm::SmallVector<llvm::AttributeSet> parameters;
  for (unsigned i = 0; i != count; ++i)
    parameters.push_back(all.getParamAttrs(i).removeAttribute(context, llvm::Attribute::Returned));
  return llvm::AttributeList::get(context, llvm::AttributeSet(),
                                  formOfResult(context, all.getRetAttrs()), parameters);
}

/// Builds a stub and its cold half.
class StubBuilder {
public:
  StubBuilder(llvm::Function &stub, llvm::GlobalVariable &cell, const llvm::Function *caller)
      : stub(stub), cell(cell), module(*stub.getParent()), context(module.getContext()),
        attributes(formOf(context, stub.getAttributes(), stub.arg_size())),
        isInPlace(passesOnInPlace(stub)) {
    setUp(stub, caller);
    cold = llvm::Function::Create(stub.getFunctionType(), linkageOfStub(stub), "lazy cold", module);
    cold->setCallingConv(stub.getCallingConv());
    setUp(*cold, caller);
    cold->addFnAttr(llvm::Attribute::Cold);
    cold->addFnAttr(llvm::Attribute::NoInline);
  }

  void build() {
    llvm::IRBuilder<> builder(llvm::BasicBlock::Create(context, "", &stub));
    llvm::LoadInst *target = builder.CreateAlignedLoad(pointer(), &cell, llvm::Align(8));
    target->setAtomic(llvm::AtomicOrdering::Acquire);
    auto *ready = llvm::BasicBlock::Create(context, "", &stub);
    auto *unready = llvm::BasicBlock::Create(context, "", &stub);
    builder.CreateCondBr(builder.CreateIsNotNull(target), ready, unready,
                         llvm::MDBuilder(context).createLikelyBranchWeights());
    passOn(*ready, target);
    passOn(*unready, cold);
    buildCold();
  }

private:
  void setUp(llvm::Function &function, const llvm::Function *caller) const {
    function.setAttributes(attributes);
    if (!caller)
      return;
    for (llvm::StringRef name : kFormAttributes)
      if (llvm::Attribute attribute = caller->getFnAttribute(name); attribute.isValid())
        function.addFnAttr(attribute);
  }

  void buildCold() {
    auto *start = llvm::BasicBlock::Create(context, "", cold);
    auto *ready = llvm::BasicBlock::Create(context, "", cold);
    auto *failed = llvm::BasicBlock::Create(context, "", cold);
    llvm::IRBuilder<> builder(start);
    llvm::FunctionCallee resolve = module.getOrInsertFunction(
        kResolve, llvm::FunctionType::get(pointer(), {pointer()}, false));
    llvm::Value *target = builder.CreateCall(resolve, {&cell});
    builder.CreateCondBr(builder.CreateIsNotNull(target), ready, failed);
    passOn(*ready, target);
    returnZero(*failed);
  }

  /// Call `target` in place of the function that `block` belongs to.
  void passOn(llvm::BasicBlock &block, llvm::Value *target) const {
    llvm::IRBuilder<> builder(&block);
    llvm::SmallVector<llvm::Value *> arguments;
    for (llvm::Argument &argument : block.getParent()->args())
      arguments.push_back(&argument);
    llvm::CallInst *call = builder.CreateCall(stub.getFunctionType(), target, arguments);
    call->setCallingConv(stub.getCallingConv());
    call->setAttributes(attributes);
    call->setTailCallKind(isInPlace ? llvm::CallInst::TCK_MustTail : llvm::CallInst::TCK_None);
    if (call->getType()->isVoidTy())
      builder.CreateRetVoid();
    else
      builder.CreateRet(call);
  }

  void returnZero(llvm::BasicBlock &block) const {
    llvm::IRBuilder<> builder(&block);
    for (llvm::Argument &argument : block.getParent()->args())
      if (argument.hasStructRetAttr())
        builder.CreateMemSet(
            &argument, builder.getInt8(0),
            module.getDataLayout().getTypeAllocSize(argument.getParamStructRetType()),
            llvm::MaybeAlign());
    llvm::Type *type = stub.getReturnType();
    if (type->isVoidTy())
      builder.CreateRetVoid();
    else
      builder.CreateRet(llvm::Constant::getNullValue(type));
  }

  llvm::PointerType *pointer() const { return llvm::PointerType::getUnqual(context); }

  llvm::Function &stub;
  llvm::GlobalVariable &cell;
  llvm::Module &module;
  llvm::LLVMContext &context;
  const llvm::AttributeList attributes;
  const bool isInPlace;
  llvm::Function *cold;
};

} // namespace

void fillStub(llvm::Function &stub, llvm::GlobalVariable &cell, const llvm::Function *caller) {
  StubBuilder(stub, cell, caller).build();
}

void dropPromises(llvm::Function &stub) {
  llvm::LLVMContext &context = stub.getContext();
  for (llvm::User *user : stub.users()) {
    auto *call = llvm::dyn_cast<llvm::CallBase>(user);
    if (!call || call->getCalledOperand() != &stub)
      continue;
    llvm::AttributeList all = call->getAttributes();
    call->setAttributes(formOf(context, all, call->arg_size()));
  }
}

} // namespace twinjit::lazy
