// Executes plans of import in a program.
#pragma once

#include "library/plan.h"
#include "library/replacements.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/IR/Module.h"

#include <vector>

namespace twinjit::library {

/// Whose definition of a library's function counts.
enum class Linkage {
  Provided, // the process': what is imported is for the optimiser to look at
  Copied,   // the imported one
};

/// Copies definitions into one program, in the context that both are in. The library's modules stay
/// as they are, and nothing is left in the context when the program is gone, but
/// distinct metadata that leads to its symbols.
class Transplant {
public:
  /// `imported` has what the program got of other libraries, by the names that these have for it.
  Transplant(llvm::Module &program, Linkage linkage, llvm::ArrayRef<std::string> imported = {});

  /// Take a definition along, unless the program defines it itself. To be called before finish(),
  /// for all that belongs together; says whether the definition is taken.
  bool add(const Plan &plan);

  /// Fill in what was added.
  void finish();

private:
  llvm::GlobalValue *place(const llvm::GlobalValue &source);
  llvm::GlobalValue *create(const llvm::GlobalValue &source, const llvm::Twine &name);
  size_t localValues() const;
  void define(const Plan &plan, Replacements &replacements);
  void setLinkage(const Plan &plan, const llvm::GlobalValue &source, llvm::GlobalValue &target);

  llvm::Module &program;
  Linkage linkage;
  llvm::StringMap<llvm::GlobalValue *> imported; // of other libraries, which may be local by now
  std::vector<const Plan *> plans;
  Replacements::Globals placed;
};

} // namespace twinjit::library
