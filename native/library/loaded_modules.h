// A library's modules in a context.
#pragma once

#include "common/diagnostics.h"
#include "common/outcome.h"
#include "library/bitcode_files.h"
#include "library/plan.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"

#include <memory>
#include <vector>

namespace twinjit::library {

/// A context, and the modules of a library that were needed in it so far, of which only those
/// bodies are read that were needed. No module is changed once it is read. Used by one thread at a
/// time.
class LoadedModules {
public:
  explicit LoadedModules(const BitcodeFiles &files);

  /// What a file defines by that name, with what goes along. Null if it defines no such function or
  /// variable for others. Fails with Kind::Library if the file cannot be read.
  Outcome<const Plan *> plan(uint32_t file, llvm::StringRef name);

  /// Read a module's symbols, if it is not yet.
  Outcome<llvm::Module *> open(uint32_t file);

  /// Read a program that functions are to be imported into. It must go before this. Fails with
  /// Kind::Library.
  Outcome<std::unique_ptr<llvm::Module>> readProgram(llvm::StringRef bitcode);

  /// The modules that were read, by number of their file; null where one was not.
  const std::vector<std::unique_ptr<llvm::Module>> &all() const { return modules; }

  /// Drop some of the modules; false if there are none left. Nothing can be read afterwards.
  bool shrink();

  llvm::LLVMContext &getContext() { return context; }

  /// Bytes of programs that were read here. Of each, its constants, types and metadata stay.
  size_t programBytes() const { return programSize; }

private:
  const BitcodeFiles &files;
  std::vector<Diagnostic> diagnostics;
  llvm::LLVMContext context; // before all that is in it
  std::vector<std::unique_ptr<llvm::Module>> modules;
  llvm::DenseMap<const llvm::GlobalValue *, std::unique_ptr<Plan>> plans;
  size_t programSize = 0;
};

} // namespace twinjit::library
