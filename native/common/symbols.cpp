#include "common/symbols.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/IR/RuntimeLibcalls.h"
#include "llvm/TargetParser/Triple.h"

namespace twinjit {
namespace {

/// What the optimiser and the code generator may call or recognise, on whatever target.
bool isLibraryFunction(llvm::StringRef name) {
  static const auto *known = new llvm::TargetLibraryInfoImpl(llvm::Triple("x86_64-linux-gnu"));
  llvm::LibFunc function;
  return known->getLibFunc(name, function) ||
         !llvm::RTLIB::RuntimeLibcallsInfo::lookupLibcallImplName(name).empty();
}

/// Names that C reserves to implementations, such as those of the linker and of libgcc.
bool isReserved(llvm::StringRef name) {
  return name.starts_with("_") && name.size() > 1 && (name[1] == '_' || llvm::isUpper(name[1]));
}

/// What MLIR's lowerings call beside the C library's mathematics, and do not find in LLVM's tables.
bool isRuntimeOfMLIR(llvm::StringRef name) {
  static constexpr llvm::StringRef kNames[] = {"memrefCopy", "erf", "erff", "erfc", "erfcf"};
  return llvm::is_contained(kNames, name) || name.starts_with("_mlir");
}

/// Prefix of the names that we make.
constexpr llvm::StringRef kOwn = "twinjit";

constexpr llvm::StringRef kProgram = "twinjit.program.", kCall = "twinjit.call.",
                          kLibrary = "twinjit.library.";

bool isTaken(llvm::StringRef name) {
  return name.empty() || name.starts_with(kOwn) || name.starts_with("llvm.") ||
         name.starts_with("\1") || isReserved(name) || isRuntimeOfMLIR(name) ||
         isLibraryFunction(name);
}

} // namespace

std::string programSymbol(llvm::StringRef name) {
  return isTaken(name) ? (kProgram + name).str() : name.str();
}

std::string callSymbol(llvm::StringRef name) { return (kCall + name).str(); }

std::string librarySymbol(llvm::StringRef name) { return (kLibrary + name).str(); }

llvm::StringRef programName(llvm::StringRef symbol) {
  for (llvm::StringRef prefix : {kProgram, kCall, kLibrary})
    if (symbol.consume_front(prefix))
      break;
  return symbol;
}

} // namespace twinjit
