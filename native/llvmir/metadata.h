// Contents of metadata.
#pragma once

#include "llvmir/constants.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/IR/DebugInfoMetadata.h"

namespace twinjit::llvmir {

/// Whether a node says nothing but where in the source something came from.
inline bool isDebugInfo(const llvm::MDNode &node) { return !llvm::isa<llvm::MDTuple>(node); }

/// Contents of metadata. A node is its content, as LLVM uniques it, but for those that are told by
/// identity and described once each:
///   - distinct nodes;
///   - nodes on a cycle of uniqued ones, which have no content of finite size;
///   - nodes that mention more than kMaxIdentities identities, or contents would grow with the
///     square of the program. Whether one does depends on its content alone.
class MetadataContents {
public:
  MetadataContents(Interner &interner, const Policy &policy, ConstantContents &constants)
      : interner(interner), policy(policy), constants(constants) {}

  /// Write what `metadata` is, by identity where it has one; may be null.
  void describe(const llvm::Metadata *metadata, Fields &fields);

  /// Write what a node holds.
  void describeInside(const llvm::MDNode &node, Fields &fields);

private:
  struct Search;

  bool hasIdentity(const llvm::MDNode &node) const {
    return node.isDistinct() || shared.contains(&node);
  }
  bool isKnown(const llvm::MDNode &node) const {
    return hasIdentity(node) || contents.contains(&node);
  }
  /// Whether an operand is part of a node: lines that a loop came from are not, where the policy
  /// ignores locations.
  bool counts(const llvm::Metadata *operand, const llvm::MDNode &user) const;
  void explore(const llvm::MDNode &root);
  void finish(llvm::ArrayRef<const llvm::MDNode *> component);
  void describeList(const llvm::DIArgList &list, Fields &fields);
  void describeValue(const llvm::ValueAsMetadata &value, Fields &fields);

  static constexpr size_t kMaxIdentities = 64;

  Interner &interner;
  const Policy &policy;
  ConstantContents &constants;
  llvm::DenseMap<const llvm::MDNode *, Content> contents;
  llvm::DenseSet<const llvm::MDNode *> shared; // not distinct, but told by identity
};

/// Write the numbers and other data that a debug-info node has besides its operands. Returns false
/// for a kind that is not known.
bool describeDebugData(const llvm::MDNode &node, Fields &fields);

} // namespace twinjit::llvmir
