#include "codegen/admission.h"

#include "llvm/IR/CallingConv.h"
#include "llvm/IR/Intrinsics.h"

namespace twinjit {
namespace {

/// Conventions for which the X86 code generator ends the process.
bool isUnusable(llvm::CallingConv::ID convention) {
  return convention == llvm::CallingConv::HiPE || convention == llvm::CallingConv::AnyReg ||
         convention == llvm::CallingConv::CFGuard_Check;
}

/// Intrinsics that the code generator cannot select.
bool isForeign(llvm::Intrinsic::ID intrinsic) {
  return intrinsic == llvm::Intrinsic::vscale ||
         (llvm::Intrinsic::isTargetIntrinsic(intrinsic) &&
          !llvm::Intrinsic::getBaseName(intrinsic).starts_with("llvm.x86."));
}

std::string whyRefused(const llvm::GlobalVariable &variable) {
  // JITLink without a platform has no thread-local storage: accesses would hit other variables.
  if (variable.isThreadLocal())
    return "variable '" + variable.getName().str() + "' is thread-local";
  bool runs =
      variable.getName() == "llvm.global_ctors" || variable.getName() == "llvm.global_dtors";
  if (runs && variable.getValueType()->getArrayNumElements() != 0)
    return "global constructors and destructors ('" + variable.getName().str() + "') do not run";
  return "";
}

std::string whyRefused(const llvm::Function &function) {
  if (function.hasGC())
    return "function '" + function.getName().str() + "' wants the garbage collector '" +
           function.getGC() + "'";
  if (isForeign(function.getIntrinsicID()))
    return "intrinsic '" + function.getName().str() + "' is not for this target";
  if (isUnusable(function.getCallingConv()))
    return "the calling convention of '" + function.getName().str() + "' is not for this target";
  return "";
}

} // namespace

std::string whyRefused(const llvm::Module &module) {
  std::string why;
  for (const llvm::GlobalVariable &variable : module.globals())
    if (why = whyRefused(variable); !why.empty())
      return why;
  for (const llvm::Function &function : module)
    if (why = whyRefused(function); !why.empty())
      return why;
  return why;
}

} // namespace twinjit
