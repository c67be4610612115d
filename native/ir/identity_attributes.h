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

#include <memory>
#include <string>
#include <vector>

namespace twinjit {

/// Digests of the attributes and types of one program, by content.
///
/// A digest hashes a tag (attribute or type), the abstract name, and what that name determines:
///   - builtin ones and LLVM's types: their parameters, field by field;
///   - others: what their dialect writes into bytecode, or else their printed form;
///     then the digests of their immediate sub-elements, so that what printing hides
///     (the bytes of a resource, the identity of a distinct attribute) still counts.
///
/// Those that are wholly determined by their uniqued pointer are remembered in the context. The
/// others hold something that is not: a resource's bytes may be changed in place, a distinct
/// attribute's number depends on the program, a struct may yet get its body. These are remembered
/// for this program only.
class AttributeDigests {
public:
  explicit AttributeDigests(mlir::MLIRContext *context);

  /// The digest of `attribute` or `type`; a fixed one for null.
  Digest of(mlir::Attribute attribute) { return digestOf(attribute); }
  Digest of(mlir::Type type) { return digestOf(type); }

  /// Why digests given out since construction are void; empty while all are good.
  const std::string &problem() const { return firstProblem; }

private:
  friend class BytecodeFields;

  template <typename T> Digest digestOf(T value);
  template <typename T> Digest compute(T value);

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
  void describeResource(FieldHasher &fields, mlir::DenseResourceElementsHandle handle);
  template <typename T> void describePrinted(FieldHasher &fields, T value);

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
    transient = true;
  }

  /// Digests by which the same few attributes and types are found over and over, without a lock.
  struct Recent {
    const void *key = nullptr;
    Digest digest;
  };
  static constexpr size_t kRecent = 1024;
  Recent &recentSlot(const void *key) { return recent[ByAddress::getHashValue(key) % kRecent]; }

  std::shared_ptr<DigestMemo> memo;
  std::vector<Recent> recent;                          // kRecent of them
  llvm::DenseMap<const void *, Digest> programDigests; // those not to be put into `memo`
  mlir::AsmState distinctNumbers; // numbers distinct attributes in order of their first printing
  bool transient = false; // set by what must not be put into `memo`, for all that contains it
  unsigned depth = 0;     // of compute() in itself
  std::string firstProblem;

  /// More than any program nests attributes and types, and less than overflows a thread's stack.
  static constexpr unsigned kMaxDepth = 1000;

  /// While the digest of a type that may contain itself is computed: such types in its bodies stand
  /// for themselves by name, are collected in `reached`, and their bodies are described in turn.
  /// Digests differ in there, and are kept apart from the others.
  struct Bodies {
    llvm::SetVector<mlir::Type> reached;
    llvm::DenseMap<const void *, Digest> digests;
  };
  Bodies *bodies = nullptr;
};

/// `value` as MLIR prints it, without aliases, with a `state` made with printInFull().
std::string printedForm(mlir::Attribute value, mlir::AsmState &state);
std::string printedForm(mlir::Type value, mlir::AsmState &state);
mlir::OpPrintingFlags printInFull();

} // namespace twinjit
