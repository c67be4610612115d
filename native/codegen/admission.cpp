#include "codegen/admission.h"

#include "codegen/unselectable.h"

#include "llvm/IR/CallingConv.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/Intrinsics.h"
#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Support/MemoryBufferRef.h"

namespace twinjit {
namespace {

/// Conventions for which the X86 code generator ends the process.
bool isUnusable(llvm::CallingConv::ID convention) {
  return convention == llvm::CallingConv::HiPE || convention == llvm::CallingConv::AnyReg ||
         convention == llvm::CallingConv::CFGuard_Check;
}

/// Of x86, those that the code generator selects on no CPU (LLVM 22.1.8): of 32-bit code, of
/// Windows, and left over from what LLVM expresses without intrinsics since.
const llvm::StringLiteral kUnselectable[] = {
    "llvm.x86.flags.read.u32",    "llvm.x86.flags.write.u32", "llvm.x86.seh.",
    "llvm.x86.avx512.broadcastm", "llvm.x86.avx10.vadd",      "llvm.x86.avx10.vdivbf",
    "llvm.x86.avx10.vfm",         "llvm.x86.avx10.vfn",       "llvm.x86.avx10.vmulbf",
    "llvm.x86.avx10.vsubbf",      "llvm.x86.avx10.vminmax"};

/// Intrinsics that the code generator cannot select.
bool isForeign(llvm::Intrinsic::ID intrinsic) {
  llvm::StringRef name = llvm::Intrinsic::getBaseName(intrinsic);
  if (llvm::any_of(kUnselectable, [&](llvm::StringRef each) { return name.starts_with(each); }))
    return true;
  return intrinsic == llvm::Intrinsic::vscale ||
         (llvm::Intrinsic::isTargetIntrinsic(intrinsic) && !name.starts_with("llvm.x86."));
}

constexpr uint64_t kPage = 4096; // all that images are aligned at

std::string whyMisaligned(const llvm::GlobalValue &symbol, llvm::MaybeAlign alignment) {
  bool isBeyond = alignment.valueOrOne().value() > kPage;
  return isBeyond ? "'" + symbol.getName().str() + "' is to be aligned at more than a page" : "";
}

std::string whyRefused(const llvm::GlobalVariable &variable) {
  // JITLink without a platform has no thread-local storage: accesses would hit other variables.
  if (variable.isThreadLocal())
    return "variable '" + variable.getName().str() + "' is thread-local";
  bool runs =
      variable.getName() == "llvm.global_ctors" || variable.getName() == "llvm.global_dtors";
  if (runs && variable.getValueType()->getArrayNumElements() != 0)
    return "global constructors and destructors ('" + variable.getName().str() + "') do not run";
  return whyMisaligned(variable, variable.getAlign());
}

std::string whyRefused(const llvm::Function &function) {
  if (function.hasGC())
    return "function '" + function.getName().str() + "' wants the garbage collector '" +
           function.getGC() + "'";
  if (isForeign(function.getIntrinsicID()))
    return "intrinsic '" + function.getName().str() + "' is not for this target";
  if (isUnusable(function.getCallingConv()))
    return "the calling convention of '" + function.getName().str() + "' is not for this target";
  if (std::string why = whyUnselectable(function); !why.empty())
    return "'" + function.getName().str() + "': " + why;
  return whyMisaligned(function, function.getAlign());
}

/// Signed pointers are constants of their own kind, which symbols lead to.
bool isSigned(const llvm::Constant &constant) {
  return llvm::any_of(constant.users(), [](const llvm::User *user) {
    auto *outer = llvm::dyn_cast<llvm::Constant>(user);
    return outer && !llvm::isa<llvm::GlobalValue>(outer) &&
           (llvm::isa<llvm::ConstantPtrAuth>(outer) || isSigned(*outer));
  });
}

std::string whyRefused(const llvm::GlobalObject &object) {
  return isSigned(object)
             ? "signed pointers ('" + object.getName().str() + "') are not for this target"
             : "";
}

/// The error as text; the object is LLVM's own, so that there is none.
template <typename T> std::string textOf(llvm::Expected<T> &failed) {
  return "the object cannot be read: " + llvm::toString(failed.takeError());
}

std::string whyUnlinkable(const llvm::object::ELFSectionRef &section) {
  bool runs = llvm::is_contained(
      {llvm::ELF::SHT_INIT_ARRAY, llvm::ELF::SHT_FINI_ARRAY, llvm::ELF::SHT_PREINIT_ARRAY},
      section.getType());
  if (!runs && !(section.getFlags() & llvm::ELF::SHF_TLS))
    return "";
  auto name = section.getName();
  if (!name)
    return textOf(name);
  return "section '" + name->str() + "' " +
         (runs ? "has functions to run at loading or unloading, which do not run"
               : "is thread-local");
}

std::string whyUnlinkable(const llvm::object::ELFSymbolRef &symbol) {
  if (symbol.getELFType() != llvm::ELF::STT_TLS)
    return "";
  auto name = symbol.getName();
  return name ? "the code uses the thread-local variable '" + name->str() + "'" : textOf(name);
}

} // namespace

std::string whyUnlinkable(llvm::StringRef object) {
  auto file = llvm::object::ObjectFile::createELFObjectFile({object, "object"});
  if (!file)
    return textOf(file);
  std::string why;
  for (const llvm::object::ELFSectionRef section : (*file)->sections())
    if (why = whyUnlinkable(section); !why.empty())
      return why;
  for (const llvm::object::ELFSymbolRef symbol : (*file)->symbols())
    if (why = whyUnlinkable(symbol); !why.empty())
      return why;
  return why;
}

std::string whyVariablesRefused(const llvm::Module &module) {
  std::string why;
  for (const llvm::GlobalVariable &variable : module.globals())
    if (why = whyRefused(variable); !why.empty())
      return why;
  return why;
}

std::string whyRefused(const llvm::Module &module) {
  std::string why;
  if (!module.ifunc_empty())
    return "indirect function '" + module.ifunc_begin()->getName().str() + "' is never resolved";
  for (const llvm::GlobalObject &object : module.global_objects())
    if (why = whyRefused(object); !why.empty())
      return why;
  if (why = whyVariablesRefused(module); !why.empty())
    return why;
  for (const llvm::Function &function : module)
    if (why = whyRefused(function); !why.empty())
      return why;
  return why;
}

} // namespace twinjit
