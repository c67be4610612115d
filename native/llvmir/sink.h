// Where the description of a module goes: into a hash, beside another one, or into an outline.
#pragma once

#include "llvmir/contents.h"

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/IR/GlobalVariable.h"
#include "llvm/IR/Instruction.h"
#include "llvm/IR/ModuleSlotTracker.h"
#include "llvm/Support/raw_ostream.h"

namespace twinjit::llvmir {

/// Numbers are persisted in fingerprints and never reused.
enum class NodeKind : uint8_t {
  Module = 1,
  Global = 2,
  Alias = 3,
  IFunc = 4,
  Function = 5,
  Block = 6,
  Instruction = 7,
  DebugRecord = 8,
  NamedMetadata = 9,
  Metadata = 10,
};

struct Node {
  NodeKind kind;
  llvm::StringRef label;  // such as the instruction's opcode
  llvm::StringRef symbol; // the name that identifies it; empty for none
  const llvm::DILocation *location = nullptr;
  const llvm::Function *function = nullptr; // where it is one
};

struct FieldName {
  uint8_t number; // persisted in fingerprints and never reused
  llvm::StringRef text;
  int index = -1; // among several of this name

  constexpr FieldName at(unsigned place) const { return {number, text, static_cast<int>(place)}; }
};

/// An identity as it is told in one module: by its place among those of its function, or of the
/// module.
struct Numbered {
  Identity identity;
  bool isLocal;
  uint64_t number;
};

using Printer = llvm::function_ref<void(llvm::raw_ostream &, llvm::ModuleSlotTracker &)>;

/// Nodes are nested. Each is begun, tells its fields and what it defines, has its children between,
/// and is ended.
class Sink {
public:
  virtual ~Sink() = default;
  virtual void begin(const Node &node) = 0;
  virtual void field(FieldName name, llvm::ArrayRef<uint8_t> bytes,
                     llvm::ArrayRef<Numbered> identities, Printer print) = 0;
  virtual void define(const Numbered &identity) = 0;
  virtual void end() = 0;

  // Where the module differs from what is told of it; for a sink that brings it to that form.
  /// A symbol is told now.
  virtual void symbol(const llvm::GlobalValue &, bool /*hasName*/) {}
  /// Its first two operands are told in the other order.
  virtual void swapped(const llvm::User &) {}
  /// An attachment of `owner`, a symbol or an instruction, is not told.
  virtual void leftOut(const llvm::Value &, unsigned /*kind*/, const llvm::MDNode &) {}
  /// The initialiser of a variable is not told.
  virtual void lifted(const llvm::GlobalVariable &) {}

  /// Whether what follows cannot change the outcome any more.
  virtual bool isSettled() const { return false; }
};

} // namespace twinjit::llvmir
