// Where the description of a module goes: into a hash, beside another one, or into an outline.
#pragma once

#include "llvmir/contents.h"

#include "llvm/ADT/STLFunctionalExtras.h"
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
  /// Whether what follows cannot change the outcome any more.
  virtual bool isSettled() const { return false; }
};

} // namespace twinjit::llvmir
