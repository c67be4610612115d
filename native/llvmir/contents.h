// What the parts of an LLVM module are made of, told without pointers and without names that mean
// nothing.
#pragma once

#include "common/digest.h"

#include "llvm/ADT/APInt.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/PointerUnion.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/Metadata.h"
#include "llvm/IR/Value.h"

#include <string>

namespace twinjit::llvmir {

/// What has no name of its own and is told from others by where it is mentioned: a local value, a
/// block, a symbol whose name does not count, a metadata node that is not its content.
using Identity = llvm::PointerUnion<const llvm::Value *, const llvm::MDNode *>;

/// Stands for a sequence of bytes; equal exactly for equal ones.
using Ref = Digest;

/// Gives out Refs. All Refs that are compared come from one interner, or are digests.
class Interner {
public:
  virtual ~Interner() = default;
  virtual Ref intern(llvm::ArrayRef<uint8_t> bytes) = 0;
};

/// Refs that are digests: the same in every process.
class DigestInterner final : public Interner {
public:
  Ref intern(llvm::ArrayRef<uint8_t> bytes) override { return llvm::BLAKE3::hash<32>(bytes); }
};

/// Refs that are numbers in a table of the bytes themselves: exact, no hash is trusted.
class TableInterner final : public Interner {
public:
  Ref intern(llvm::ArrayRef<uint8_t> bytes) override { return table.of(bytes); }

private:
  ContentTable table;
};

/// A thing's content: `ref` says what it is but for its identities, which it refers to by their
/// places in `identities`, each there once, in order of first mention. So it depends on nothing
/// around the thing.
struct Content {
  Ref ref;
  llvm::ArrayRef<Identity> identities;
};

/// Writes a content. Self-delimiting, so that no two sequences of calls give the same bytes:
/// numbers are LEB128, strings and lists begin with their length.
class Fields {
public:
  void tag(uint8_t value) { data.push_back(value); }

  void number(uint64_t value) {
    for (; value >= 0x80; value >>= 7)
      data.push_back(static_cast<uint8_t>(value) | 0x80);
    data.push_back(static_cast<uint8_t>(value));
  }

  void string(llvm::StringRef text) {
    number(text.size());
    data.append(text.bytes_begin(), text.bytes_end());
  }

  void bits(const llvm::APInt &value) {
    number(value.getBitWidth());
    for (unsigned i = 0; i != value.getNumWords(); ++i)
      number(value.getRawData()[i]);
  }

  void ref(const Ref &value) { data.append(value.begin(), value.end()); }

  void identity(Identity value) { number(placeOf(value)); }

  void content(const Content &value) {
    ref(value.ref);
    number(value.identities.size());
    for (Identity each : value.identities)
      identity(each);
  }

  llvm::ArrayRef<uint8_t> bytes() const { return data; }
  llvm::ArrayRef<Identity> identities() const { return mentioned; }

  void clear() {
    data.clear();
    mentioned.clear();
    places.clear();
  }

private:
  uint64_t placeOf(Identity value) {
    constexpr size_t kFew = 8;
    if (mentioned.size() <= kFew) {
      auto *found = llvm::find(mentioned, value);
      if (found != mentioned.end())
        return found - mentioned.begin();
      if (mentioned.size() == kFew)
        for (Identity each : mentioned)
          places.try_emplace(each, places.size());
    }
    if (mentioned.size() >= kFew) {
      auto [place, isNew] = places.try_emplace(value, mentioned.size());
      if (!isNew)
        return place->second;
    }
    mentioned.push_back(value);
    return mentioned.size() - 1;
  }

  llvm::SmallVector<uint8_t, 128> data;
  llvm::SmallVector<Identity, 8> mentioned;
  llvm::DenseMap<Identity, uint64_t> places; // in `mentioned`; empty while these are few
};

/// Visit `root` and what it leads to, operands first, without recursion. `isDone(node)` says
/// whether a node needs no visit (any more), `operandsOf(node, push)` pushes its operands.
template <typename Node, typename IsDone, typename OperandsOf, typename Visit>
void visitOperandsFirst(Node root, IsDone isDone, OperandsOf operandsOf, Visit visit) {
  struct Step {
    Node node;
    bool isExpanded;
  };
  llvm::SmallVector<Step, 16> steps = {{root, false}};
  while (!steps.empty()) {
    Step &top = steps.back();
    Node node = top.node;
    if (isDone(node)) {
      steps.pop_back();
    } else if (!top.isExpanded) {
      top.isExpanded = true; // before the stack moves
      operandsOf(node, [&](Node operand) {
        if (!isDone(operand))
          steps.push_back({operand, false});
      });
    } else {
      steps.pop_back();
      visit(node);
    }
  }
}

} // namespace twinjit::llvmir
