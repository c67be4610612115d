#include "llvmir/signatures.h"

#include "common/symbols.h"

#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

namespace twinjit::llvmir {
namespace {

std::string textOf(const llvm::Type &type) {
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}

PlainValue describe(const llvm::Type &type) {
  std::string text = textOf(type);
  if (type.isPointerTy() && type.getPointerAddressSpace() == 0)
    return {"pointer", "", text};
  if (type.isIntegerTy(1) || type.isIntegerTy(8) || type.isIntegerTy(16) || type.isIntegerTy(32) ||
      type.isIntegerTy(64))
    return {"scalar", text, text};
  if (type.isHalfTy())
    return {"scalar", "f16", text};
  if (type.isBFloatTy())
    return {"scalar", "bf16", text};
  if (type.isFloatTy())
    return {"scalar", "f32", text};
  if (type.isDoubleTy())
    return {"scalar", "f64", text};
  return {"unsupported", "", text};
}

PlainValue describe(const llvm::Argument &argument) {
  PlainValue value = describe(*argument.getType());
  if (argument.hasPassPointeeByValueCopyAttr()) // C passes the bytes and not the pointer
    value.text += " byval(" + textOf(*argument.getPointeeInMemoryValueType()) + ")";
  value.isReadOnly =
      value.kind == "pointer" && (argument.onlyReadsMemory() || argument.hasByValAttr());
  return value;
}

/// Conventions other than C's that a caller in LLVM IR can follow with any arguments.
llvm::StringRef nameOf(llvm::CallingConv::ID convention) {
  switch (convention) {
  case llvm::CallingConv::Fast:
    return "fastcc";
  case llvm::CallingConv::Cold:
    return "coldcc";
  case llvm::CallingConv::Tail:
    return "tailcc";
  case llvm::CallingConv::PreserveMost:
    return "preserve_mostcc";
  case llvm::CallingConv::PreserveAll:
    return "preserve_allcc";
  case llvm::CallingConv::X86_64_SysV:
    return "x86_64_sysvcc";
  case llvm::CallingConv::Win64:
    return "win64cc";
  case llvm::CallingConv::X86_VectorCall:
    return "x86_vectorcallcc";
  case llvm::CallingConv::X86_RegCall:
    return "x86_regcallcc";
  case llvm::CallingConv::Swift:
    return "swiftcc";
  case llvm::CallingConv::SwiftTail:
    return "swifttailcc";
  default:
    return "";
  }
}

/// An attribute by which an argument is more than a value.
std::string specialAttribute(const llvm::Argument &argument) {
  for (llvm::Attribute::AttrKind kind :
       {llvm::Attribute::InAlloca, llvm::Attribute::Preallocated, llvm::Attribute::SwiftError,
        llvm::Attribute::SwiftSelf, llvm::Attribute::SwiftAsync, llvm::Attribute::Nest})
    if (argument.hasAttribute(kind))
      return llvm::Attribute::getNameFromAttrKind(kind).str();
  return "";
}

std::string whyUncallable(const llvm::Function &function, const PlainSignature &signature) {
  if (function.isVarArg())
    return "it takes a variable number of arguments";
  for (auto [index, value] : llvm::enumerate(signature.arguments)) {
    if (value.kind == "unsupported")
      return "argument " + std::to_string(index) + " is a " + value.text +
             ", which Python cannot pass; take a pointer to it";
    if (auto attribute = specialAttribute(*function.getArg(index)); !attribute.empty())
      return "argument " + std::to_string(index) + " is '" + attribute + "'";
  }
  for (const PlainValue &value : signature.results)
    if (value.kind == "unsupported")
      return "it returns a " + value.text + "; write it to where a pointer says";
  if (function.getCallingConv() != llvm::CallingConv::C &&
      nameOf(function.getCallingConv()).empty())
    return "it has LLVM's calling convention " + signature.convention;
  return "";
}

PlainSignature describe(const llvm::Function &function) {
  PlainSignature signature;
  signature.name = programName(function.getName()).str();
  for (const llvm::Argument &argument : function.args())
    signature.arguments.push_back(describe(argument));
  if (!function.getReturnType()->isVoidTy())
    signature.results.push_back(describe(*function.getReturnType()));
  llvm::CallingConv::ID convention = function.getCallingConv();
  if (convention != llvm::CallingConv::C && convention != llvm::CallingConv::X86_64_SysV) {
    llvm::StringRef name = nameOf(convention);
    signature.convention = name.empty() ? std::to_string(convention) : name.str();
  }
  signature.uncallable = whyUncallable(function, signature);
  return signature;
}

} // namespace

std::vector<PlainSignature> signaturesOf(const llvm::Module &module) {
  std::vector<PlainSignature> signatures;
  for (const llvm::Function &function : module)
    if (!function.isDeclarationForLinker() && !function.hasLocalLinkage() &&
        !function.getName().starts_with("twinjit.local."))
      signatures.push_back(describe(function));
  return signatures;
}

std::vector<std::string> declarations(const llvm::Module &module) {
  std::vector<std::string> names;
  for (const llvm::GlobalValue &value : module.global_values()) {
    const auto *function = llvm::dyn_cast<llvm::Function>(&value);
    bool isForOthers = value.isDeclaration() && !(function && function->isIntrinsic());
    if (isForOthers && !value.use_empty() && llvm::json::isUTF8(value.getName()))
      names.push_back(value.getName().str());
  }
  return names;
}

} // namespace twinjit::llvmir
