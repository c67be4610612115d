// Digests of attributes and types.
#pragma once

#include "common/digest.h"
#include "ir/identity_memo.h"

#include "mlir/IR/AsmState.h"
#include "mlir/IR/Attributes.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Types.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SetVector.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <string>

namespace twinjit {

/// Identities in a program's attributes and types: names that mean nothing by themselves.
class Identities {
public:
  virtual ~Identities() = default;

  /// What to write for each part of a reference from the symbol table that is walked: the number of
  /// the symbol, or none where the name itself counts. Empty where all names count.
  virtual llvm::SmallVector<std::optional<uint32_t>, 2> symbols(mlir::SymbolRefAttr) { return {}; }

  /// Whether any symbol's name does not count.
  virtual bool renamesSymbols() const { return false; }

  /// What to write for the identity of a distinct attribute; none to number these in the order in
  /// which they are met.
  virtual std::optional<uint32_t> distinct(mlir::DistinctAttr) { return std::nullopt; }

  /// Whether what distinct() gives holds no longer than what symbols() gives.
  virtual bool isBrief() const { return false; }
};

/// Digests of the attributes and types of one program, by content.
///
/// A digest hashes a tag (attribute or type), the abstract name, and what that name determines:
///   - builtin ones and LLVM's types: their parameters, field by field;
///   - others: what their dialect writes into bytecode, or else prints, with the digests of the
///     attributes and types in it; then the digests of their immediate sub-elements, which may be
///     more.
///
/// Those that are wholly determined by their uniqued pointer are remembered in the context. The
/// others hold something that is not: a resource's bytes may be changed in place, a distinct
/// attribute's number depends on the program, a struct may yet get its body, a symbol's number
/// depends on where its name is looked up. These are remembered for as long as they hold.
class AttributeDigests {
public:
  /// With `exact`, digests are the numbers of contents in that table, and nothing is hashed.
  AttributeDigests(mlir::MLIRContext *context, Identities &identities,
                   ContentTable *exact = nullptr);

  /// The digest of `attribute` or `type`; a fixed one for null.
  Digest of(mlir::Attribute attribute) { return digestOf(attribute); }
  Digest of(mlir::Type type) { return digestOf(type); }

  /// How long the digest that was given out last holds.
  enum class Lifetime : uint8_t {
    Context,     // as long as its context
    Program,     // while the program is walked
    SymbolTable, // until the walk enters or leaves a symbol table
  };
  Lifetime lastLifetime() const { return last; }

  /// The walk enters or leaves a symbol table, or its identities get other numbers.
  void changeSymbolTable() { tableDigests.clear(); }

  /// Why digests given out since construction are void; empty while all are good.
  const std::string &problem() const { return firstProblem; }

private:
  friend class BytecodeFields;
  friend class PartsPrinter;

  template <typename T> Digest digestOf(T value);
  template <typename T> Digest compute(T value);
  template <typename T> Digest computeAndKeep(T value);
  std::optional<Digest> known(const void *key);
  bool isKnown(const void *key) const;
  mlir::AsmState &statePrinting();
  template <typename T> void settleParts(T value);
  FieldHasher fresh() const { return FieldHasher(exact); }
  void shorten(Lifetime other) { lifetime = std::max(lifetime, other); }

  // Each writes the fields of one kind, after tag and name; `describe` chooses.
  void describe(FieldHasher &fields, mlir::Attribute attribute);
  void describe(FieldHasher &fields, mlir::Type type);
  bool describeSimple(FieldHasher &fields, mlir::Attribute attribute);
  bool describeCollection(FieldHasher &fields, mlir::Attribute attribute);
  bool describeElements(FieldHasher &fields, mlir::Attribute attribute);
  bool describeShaped(FieldHasher &fields, mlir::Type type);
  bool describeBuiltin(FieldHasher &fields, mlir::Type type);
  bool describeLLVM(FieldHasher &fields, mlir::Type type);
  template <typename T> void describeForeign(FieldHasher &fields, T value);
  void describeResource(FieldHasher &fields, const mlir::AsmDialectResourceHandle &handle);
  template <typename T> void describePrinted(FieldHasher &fields, T value);

  void describeOpaque(FieldHasher &fields, llvm::StringRef text);
  void describeReference(FieldHasher &fields, mlir::SymbolRefAttr reference);
  void describeRecursive(FieldHasher &fields, mlir::Type type);
  void describeBody(FieldHasher &fields, mlir::Type type);

  template <typename Range> void list(FieldHasher &fields, const Range &range) {
    fields.number(range.size());
    for (auto element : range)
      fields.digest(of(element));
  }

  void fail(std::string why) {
    if (firstProblem.empty())
      firstProblem = std::move(why);
    shorten(Lifetime::Program);
  }

  Identities &identities;
  ContentTable *exact;
  std::shared_ptr<DigestMemo> memo;                       // not used with `exact`
  llvm::DenseMap<const void *, Digest> programDigests;    // of Lifetime::Program
  llvm::DenseMap<const void *, Digest> tableDigests;      // of Lifetime::SymbolTable
  llvm::DenseMap<mlir::DistinctAttr, uint32_t> distincts; // numbered as they are met
  /// Numbers those that only MLIR's printer can see. Made when needed: that takes microseconds.
  std::optional<mlir::AsmState> printerState;
  mlir::MLIRContext *context;
  // What holds for all that is computed now, and for all that contains it.
  Lifetime lifetime = Lifetime::Context;
  bool namesSymbols = false;
  Lifetime last = Lifetime::Context;
  unsigned depth = 0; // of compute() in itself
  std::string firstProblem;

  // compute() takes less than 1 KiB of a thread's stack, and 3 KiB where it leads through a
  // dialect.
  /// How deep it may call itself before parts are settled from the innermost outwards.
  static constexpr unsigned kMaxPlainDepth = 32;
  /// The limit for what a dialect hides from that.
  static constexpr unsigned kMaxDepth = 64;

  /// While the digest of a type that may contain itself is computed: such types in its bodies stand
  /// for themselves by name, are collected in `reached`, and their bodies are described in turn.
  /// Digests differ in there, and are kept apart from the others.
  struct Bodies {
    llvm::SetVector<mlir::Type> reached;
    llvm::DenseMap<const void *, Digest> digests;
  };
  Bodies *bodies = nullptr;
};

/// Whether the text of an attribute or type of an unknown dialect names something that it does not
/// hold, as MLIR's parser would read it: `#alias`, `!alias`, `distinct[…]`, `dense_resource<…>`.
bool refersOutside(llvm::StringRef text);

/// Whether a type may contain itself, and may get its body after it was made. No attribute may.
bool isRecursive(mlir::Type type);
inline bool isRecursive(mlir::Attribute) { return false; }

/// `value` as MLIR prints it, without aliases, with a `state` made with printInFull().
std::string printedForm(mlir::Attribute value, mlir::AsmState &state);
std::string printedForm(mlir::Type value, mlir::AsmState &state);
mlir::OpPrintingFlags printInFull();

} // namespace twinjit
