// What stands in a program for values of a library.
#pragma once

#include "library/plan.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/Transforms/Utils/ValueMapper.h"

namespace twinjit::library {

/// Values of a program, by those of the library that they are copies of; what is not known stands
/// for itself. LLVM's map for this keeps a handle on each value, which takes as long as to copy it,
/// so that only what needs LLVM's mapper is in one: constants and metadata that refer to globals.
class Replacements {
public:
  using Globals = llvm::DenseMap<const llvm::GlobalValue *, llvm::GlobalValue *>;

  /// `globals` and as many `others`, which are set later.
  Replacements(const Globals &globals, size_t others);
  Replacements(const Replacements &) = delete;
  Replacements &operator=(const Replacements &) = delete;

  /// Replace the constants of a plan, all of whose globals are known.
  void prepare(const Plan &plan);

  void set(const llvm::Value &source, llvm::Value &target) { values[&source] = &target; }

  llvm::Value *of(llvm::Value &value) const {
    auto found = values.find(&value);
    return found == values.end() ? &value : found->second;
  }
  llvm::Constant *of(llvm::Constant &constant) const {
    return llvm::cast<llvm::Constant>(of(static_cast<llvm::Value &>(constant)));
  }
  llvm::Metadata *of(llvm::Metadata &metadata);

private:
  const Globals &globals;
  llvm::DenseMap<const llvm::Value *, llvm::Value *> values;
  llvm::ValueToValueMapTy mapped; // filled for the first plan that needs it
};

} // namespace twinjit::library
