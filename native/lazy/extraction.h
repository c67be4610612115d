// How a part of a module becomes a module.
#pragma once

#include "lazy/split.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Transforms/Utils/ValueMapper.h"

#include <optional>

namespace twinjit::lazy {

/// Whether a function's code goes along with that of its callers.
bool goesAlong(const llvm::Function &function);

/// Whether all parts share one variable (or constant, whose address counts), in Split::data().
bool isShared(const llvm::GlobalVariable &variable);

/// The functions, variables and aliases that `start` refers to, directly or through what goes along
/// with it, in the order in which they are met. What has no place in a part is `problem`.
class Closure {
public:
  void addFunction(const llvm::Function &function);
  void addVariable(const llvm::GlobalVariable &variable);
  void run();

  const llvm::SetVector<const llvm::GlobalValue *> &met() const { return symbols; }
  const std::string &whyRefused() const { return problem; }

private:
  void look(const llvm::Constant &constant);
  void lookInto(const llvm::GlobalValue &symbol);
  void meet(const llvm::GlobalValue &symbol);

  llvm::SetVector<const llvm::GlobalValue *> symbols;
  size_t done = 0; // so many symbols were looked into
  llvm::SmallPtrSet<const llvm::Constant *, 32> seen;
  llvm::SmallPtrSet<const llvm::GlobalValue *, 4> roots; // looked into whatever they are
  std::string problem;
};

/// Makes one part, in the context of the whole module, which is locked meanwhile.
class Extraction {
public:
  Extraction(const llvm::Module &whole, llvm::ArrayRef<std::string> lazy);

  /// What the part shall have; one of these, once.
  void addRoot(const llvm::Function &function);
  void addData(llvm::ArrayRef<const llvm::GlobalVariable *> variables);
  void addStub(const llvm::Function &function);

  Outcome<Part> finish();

private:
  void declareAll(const Closure &closure);
  void declare(const llvm::GlobalValue &symbol);
  void declareFunction(const llvm::Function &function);
  void declareVariable(const llvm::GlobalVariable &variable);
  llvm::Function *makeStub(const llvm::Function &function);
  llvm::GlobalVariable *makeLink(Link::Kind kind, llvm::StringRef name);
  llvm::Function *newFunction(const llvm::Function &like, llvm::GlobalValue::LinkageTypes linkage,
                              llvm::StringRef name);
  llvm::GlobalVariable *newVariable(const llvm::GlobalVariable &like,
                                    llvm::GlobalValue::LinkageTypes linkage, llvm::StringRef name);
  void checkName(const llvm::GlobalValue &made, llvm::StringRef name);
  void fillBodies();
  void fillStubs();
  void fillVariables();
  void mapAlias(const llvm::GlobalAlias &alias);
  void separateAddresses();
  void copyFlags();
  bool isLazy(const llvm::Function &function) const;
  std::string names(llvm::StringRef prefix) { return (prefix + llvm::Twine(named++)).str(); }

  const llvm::Module &whole;
  llvm::StringSet<> lazy;
  std::unique_ptr<llvm::Module> part;
  llvm::ValueToValueMapTy map;
  const llvm::Function *root = nullptr;
  std::vector<std::pair<const llvm::Function *, llvm::Function *>> bodies;
  std::vector<std::pair<const llvm::GlobalVariable *, llvm::GlobalVariable *>> contents;
  /// Functions whose address elsewhere than in calls is that of their public stub.
  std::vector<std::pair<const llvm::Function *, llvm::Function *>> addressed;
  std::vector<std::pair<const llvm::Function *, llvm::Function *>> stubs; // empty until the end
  std::vector<Link> links;
  size_t counts[3] = {}; // of links, by kind
  size_t named = 0;
  std::string problem;
};

} // namespace twinjit::lazy
