// An LLVM module in a context of its own.
#pragma once

#include "common/outcome.h"

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"

#include <memory>
#include <mutex>
#include <string>

namespace twinjit::llvmir {

class OwnModule {
public:
  /// Read LLVM IR text or bitcode, and verify it. Fails with Kind::Parse or Kind::Verification.
  static Outcome<std::shared_ptr<OwnModule>> parse(llvm::StringRef source, llvm::StringRef name);

  const llvm::Module &get() const { return *module; }
  llvm::Module &change() { return *module; }

  /// As LLVM prints it, and as bitcode. Both read as the same program.
  std::string text() const;
  std::string bitcode() const;

  /// Run what recurses as deep as the module is nested.
  void onItsStack(llvm::function_ref<void()> work) const;

  /// Guards the module and its context: LLVM fills in parts of both while they are read. Whoever
  /// uses get() or change() holds it.
  std::mutex mutex;

private:
  friend class Reader;
  llvm::LLVMContext context;
  size_t stackBytes = 0;
  std::unique_ptr<llvm::Module> module; // goes before the context
};

} // namespace twinjit::llvmir
