#include "lazy/forwarding.h"

#include "llvm/IR/DerivedTypes.h"

namespace twinjit::lazy {
namespace {

using llvm::CallingConv::ID;

/// Counts the registers that a result takes, at least as many as any convention needs.
class Registers {
public:
  /// False where a type may travel otherwise.
  bool add(const llvm::Type *type) {
    if (auto *structure = llvm::dyn_cast<llvm::StructType>(type))
      return llvm::all_of(structure->elements(), [&](llvm::Type *each) { return add(each); });
    if (auto *array = llvm::dyn_cast<llvm::ArrayType>(type))
      return addTimes(array->getElementType(), array->getNumElements());
    if (auto *vector = llvm::dyn_cast<llvm::FixedVectorType>(type))
      return addVector(*vector);
    return addScalar(type);
  }

private:
  static constexpr unsigned kWhole = 3;    // rax, rdx, rcx
  static constexpr unsigned kFloating = 2; // xmm0, xmm1
  static constexpr unsigned kVectors = 4;  // xmm0 to xmm3

  bool addTimes(const llvm::Type *type, uint64_t count) {
    for (uint64_t i = 0; i != count; ++i)
      if (!add(type)) // before long, unless it is empty
        return false;
      else if (type->isEmptyTy())
        return true;
    return true;
  }

  bool addScalar(const llvm::Type *type) {
    if (type->isVoidTy())
      return true;
    if (type->isPointerTy() || type->isIntegerTy())
      whole += type->isPointerTy() ? 1 : (type->getIntegerBitWidth() + 63) / 64;
    else if (type->isFloatTy() || type->isDoubleTy() || type->isHalfTy() || type->isFP128Ty())
      ++floating;
    else
      return false;
    return fits();
  }

  bool addVector(const llvm::FixedVectorType &type) {
    const llvm::Type *element = type.getElementType();
    unsigned bits = element->isPointerTy() ? 64 : element->getScalarSizeInBits();
    bool isPlain = element->isPointerTy() || element->isFloatTy() || element->isDoubleTy() ||
                   (element->isIntegerTy() && bits >= 8 && bits <= 64 && llvm::isPowerOf2_32(bits));
    if (!isPlain || !llvm::isPowerOf2_32(type.getNumElements()) ||
        bits * type.getNumElements() < 128)
      return false;
    vectors += bits * type.getNumElements() / 128;
    return fits();
  }

  bool fits() const {
    return whole <= kWhole && floating <= kFloating && floating + vectors <= kVectors;
  }

  unsigned whole = 0, floating = 0, vectors = 0;
};

bool isOrdinary(ID convention) {
  switch (convention) {
  case llvm::CallingConv::C:
  case llvm::CallingConv::Fast:
  case llvm::CallingConv::Tail:
  case llvm::CallingConv::Swift:
  case llvm::CallingConv::SwiftTail:
  case llvm::CallingConv::PreserveNone:
  case llvm::CallingConv::X86_64_SysV:
    return true;
  default:
    return false;
  }
}

} // namespace

bool passesOnInPlace(const llvm::Function &function) {
  if (function.getAttributes().hasAttrSomewhere(llvm::Attribute::SwiftError))
    return false; // travels back in a register
  return isOrdinary(function.getCallingConv()) && Registers().add(function.getReturnType());
}

llvm::GlobalValue::LinkageTypes linkageOfStub(const llvm::Function &function) {
  ID convention = function.getCallingConv();
  bool isTail = convention == llvm::CallingConv::Tail || convention == llvm::CallingConv::SwiftTail;
  return isTail ? llvm::GlobalValue::LinkOnceODRLinkage : llvm::GlobalValue::InternalLinkage;
}

std::string whyNoStub(const llvm::Function &function) {
  std::string name = "'" + function.getName().str() + "'";
  switch (function.getCallingConv()) {
  case llvm::CallingConv::GHC:
  case llvm::CallingConv::HiPE:
  case llvm::CallingConv::AnyReg:
  case llvm::CallingConv::X86_INTR:
  case llvm::CallingConv::X86_FastCall:
  case llvm::CallingConv::X86_StdCall:
  case llvm::CallingConv::X86_ThisCall:
  case llvm::CallingConv::X86_VectorCall:
    return "nothing can be called in place of " + name + ", by its calling convention";
  default:
    break;
  }
  if (function.isVarArg() && !passesOnInPlace(function))
    return "the variable arguments of " + name +
           " cannot be passed on, by its calling convention or by what it returns";
  return "";
}

} // namespace twinjit::lazy
