// The description of a module: the one walk that fingerprints, comparisons and outlines share.
#pragma once

#include "llvmir/metadata.h"
#include "llvmir/sink.h"

#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"

#include <deque>

namespace twinjit::llvmir {

/// All symbols: variables, aliases, ifuncs and functions, each as they are listed.
llvm::SmallVector<const llvm::GlobalValue *, 0> symbolsOf(const llvm::Module &module);

/// Tells a sink all of a module that the policy lets count.
///
/// Order: the module's own fields; its symbols; its named metadata, by name; the metadata nodes
/// that have an identity, in order of first mention. Symbols come as they are listed, or, where the
/// policy ignores that order: those whose name counts, by name; the others by first mention; those
/// that nothing mentions by their rank.
class Walk {
public:
  /// `ranks` orders what has no name and no number yet (see rankSymbols()).
  Walk(const llvm::Module &module, const Policy &policy, Interner &interner, const Ranks &ranks,
       Sink &sink);

  /// Returns why the module cannot be told; empty where it was.
  std::string run();

  void describe(const llvm::GlobalValue &symbol);

private:
  // walk.cpp: order and numbers.
  void describeModule();
  void describeListed();
  void describeUnordered();
  void describeRest();
  void drain();
  void describeNamedMetadata();
  void describeNode(const llvm::MDNode &node);
  void enterFunction(const llvm::Function &function);
  Numbered numberOf(Identity identity);
  bool isSkipped(const llvm::GlobalValue &symbol) const;
  std::string sortKey(const Fields &content);
  const std::string &attachmentName(unsigned kind);

  // walk.cpp: plain fields.
  void emit(FieldName name, const Fields &content, Printer print);
  void number(FieldName name, uint64_t value);
  void word(FieldName name, llvm::StringRef value);
  void wordUnlessEmpty(FieldName name, llvm::StringRef value);
  void flag(FieldName name, bool isSet);
  void type(FieldName name, const llvm::Type *type);

  // values.cpp
  void value(FieldName name, const llvm::Value *value);
  void contentOf(const llvm::Value *value, Fields &content);
  void metadata(FieldName name, const llvm::Metadata *metadata);
  void attributes(llvm::AttributeList attributes);
  void attributes(FieldName name, llvm::AttributeSet set);
  void attachments(const llvm::Value &owner,
                   llvm::MutableArrayRef<std::pair<unsigned, llvm::MDNode *>> list);
  bool counts(llvm::StringRef kind, const llvm::MDNode &node) const;

  // symbols.cpp
  void describeSymbol(const llvm::GlobalValue &symbol);
  void describeVariable(const llvm::GlobalVariable &variable);
  void describeFunction(const llvm::Function &function);
  void describeComdat(const llvm::GlobalObject &object);
  void describeAttachments(const llvm::GlobalObject &object);
  void describeBlock(const llvm::BasicBlock &block);
  bool isAliased(const llvm::GlobalVariable &variable) const;
  bool isLifted(const llvm::GlobalVariable &variable) const;

  // instructions.cpp
  void describe(const llvm::Instruction &instruction);
  void describeDetails(const llvm::Instruction &instruction);
  void describeMemory(const llvm::Instruction &instruction);
  void describeAtomic(const llvm::Instruction &instruction);
  void describeCall(const llvm::CallBase &call);
  void describeOperands(const llvm::Instruction &instruction);
  void describeCallOperands(const llvm::CallBase &call);
  void describePhi(const llvm::PHINode &phi);
  void describeSwitch(const llvm::SwitchInst &instruction);
  void describeCommutative(const llvm::Instruction &instruction);
  void describe(const llvm::DbgRecord &record);
  void indices(llvm::ArrayRef<unsigned> places);
  void scope(llvm::SyncScope::ID id);

  const llvm::Module &module;
  const Policy &policy;
  const Ranks &ranks;
  Sink &sink;
  const AnonymousSymbols anonymous;
  TypeContents types;
  ConstantContents constants;
  MetadataContents metadataContents;

  Fields fields; // of the field that is being written
  llvm::SmallVector<Numbered, 8> numbered;
  llvm::DenseMap<const llvm::Value *, uint64_t> locals; // of the function that is being described
  llvm::DenseMap<Identity, uint64_t> globals;
  std::deque<const llvm::GlobalValue *> pendingSymbols; // mentioned and not described yet
  std::deque<const llvm::MDNode *> pendingNodes;
  llvm::DenseMap<unsigned, std::string> attachmentNames;
  llvm::SmallVector<llvm::StringRef, 64> metadataKinds; // names by LLVM's number
  llvm::SmallVector<llvm::StringRef, 8> scopes;
};

/// Ranks for a module whose symbols have no order: what each symbol without a name holds, other
/// such symbols left blank. Two that hold the same may still differ in what these are; these keep
/// the order in which they are listed.
Ranks rankSymbols(const llvm::Module &module, const Policy &policy, Interner &interner);

} // namespace twinjit::llvmir
