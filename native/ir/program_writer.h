// A program under a policy as one sequence of numbers and contents, from which identity follows.
#pragma once

#include "ir/identity_attributes.h"
#include "ir/outline_text.h"
#include "ir/policy_attributes.h"
#include "ir/scope_numbers.h"
#include "ir/symbol_order.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Support/xxhash.h"

#include <unordered_map>

namespace twinjit {

// The sequence. A number is 32 bits. A content is the number of an attribute or type (below), from
// 1; where it occurs for the first time, its digest follows, as identity_attributes.h describes it.
//
//   program    operation
//   operation  name, mark?, symbol?, properties, attributes, operands, successors, results,
//              location?, regions
//   name       content (a string attribute)
//   mark       number (Mark, policy_attributes.h), of all operations or none: under policies that
//              leave out discardable attributes, the module's name or large constants, and in
//              programs that have a symbol whose name does not count
//   symbol     number of the symbol, if the mark says that its name does not count
//   properties, attributes   content (a dictionary, empty where there are none)
//   operands, successors     count, numbers of values, of blocks; on the first use of a value from
//                            outside of the program, its type (a content) follows the number
//   results    count, contents (types)
//   location   content, only where locations count
//   regions    count; each: count of blocks; each a block
//   block      count of arguments, each a content (a type) and a location?; operations; 0
//
// Where the policy does not tell whether there are marks, the first operation does: its mark, a
// module's, is 0, and stands where the number of its properties would, which is at least 2.
// Operands whose order does not count come in ascending order of their numbers.
//
// Order: as numbering.h and symbol_order.h settle it. Values and blocks are numbered in that order
// within the nearest operation that uses no value from outside, so that a use may come before its
// definition; symbols without a name as they are met in the sequence; values from outside, which
// the operation that is the program may use, from kOuterValues, as they are met.

inline constexpr uint32_t kOuterValues = 1U << 31;

/// What a Sink that wants the sequence alone does with the rest.
struct PlainSink {
  void lifted(mlir::Operation &) {}
  void sorted(mlir::Operation &, llvm::ArrayRef<mlir::Value>) {}
};

/// Writes the sequence into a Sink, which has
///   void number(uint32_t)
///   void digest(const Digest &)
///   bool stopped()            to write no more
///   void lifted(Operation &)  on meeting a large constant whose elements do not count
///   void sorted(Operation &, ArrayRef<Value>)  on having written operands in the order given,
///                             where their own does not count
template <typename Sink> class ProgramWriter final : Identities {
public:
  ProgramWriter(mlir::Operation *root, const Policy &policy, Sink &sink,
                ContentTable *exact = nullptr)
      : root(root), policy(policy), sink(sink), renamed(root, policy),
        attributes(root->getContext(), *this, exact), filter(policy, renamed, root),
        numbers(root, filter, order), slots(kSlots), recentProperties(kRecentProperties) {
    orderSymbols(root, filter, order);
  }

  /// Why what was written is void; empty if it is good.
  std::string run() {
    if (!isModule())
      beginModule();
    Walk<ProgramWriter>(order, *this).run(*root);
    if (!isModule())
      sink.number(kEnd);
    return problem;
  }

  /// After run(): the order in which everything was written.
  VisitOrder takeOrder() { return std::move(order); }

  /// After run(): the symbols without a name, by number.
  std::vector<mlir::Operation *> numberedSymbols() const {
    std::vector<mlir::Operation *> symbols(symbolNumbers.size());
    for (auto [symbol, number] : symbolNumbers)
      symbols[number] = symbol;
    return symbols;
  }

  /// After run(): the values from outside that are used, by number from kOuterValues.
  llvm::SmallVector<mlir::Value> outerValues() const {
    return llvm::SmallVector<mlir::Value>(llvm::make_first_range(outer));
  }

  // What the walk calls.
  void operation(mlir::Operation &operation) {
    if (isSymbolTable(operation)) // its own attributes may mean what is in it
      enterSymbolTable(operation);
    numbers.define(operation);
    content(operation.getName().getIdentifier());
    writeAttributes(operation);
    writeUses(operation);
    sink.number(operation.getNumResults());
    for (mlir::Type type : operation.getResultTypes())
      content(type);
    if (!policy.ignoreLocations)
      content(mlir::Attribute(operation.getLoc()));
    sink.number(operation.getNumRegions());
    if (!attributes.problem().empty())
      fail(operation, attributes.problem());
  }

  bool descend(mlir::Operation &operation) {
    if (isScope(operation))
      numbers.enter(operation);
    return true;
  }

  void endOperation(mlir::Operation &operation) {
    if (isScope(operation))
      numbers.leave();
    if (isSymbolTable(operation))
      leaveSymbolTable();
  }

  void region(mlir::Region &region) {
    sink.number(static_cast<uint32_t>(region.getBlocks().size()));
    if (!region.empty() && !region.hasOneBlock())
      numbers.goAhead(); // settles the order of the blocks, too
  }
  void reached(mlir::Region &) {}

  void block(mlir::Block &block) {
    numbers.define(block);
    sink.number(block.getNumArguments());
    for (mlir::BlockArgument argument : block.getArguments()) {
      content(argument.getType());
      if (!policy.ignoreLocations)
        content(mlir::Attribute(argument.getLoc()));
    }
    if (!attributes.problem().empty())
      fail(*block.getParentOp(), attributes.problem());
  }
  void endBlock(mlir::Block &) { sink.number(kEnd); }

  bool stopped() { return !problem.empty() || sink.stopped(); }

private:
  static constexpr uint32_t kEnd = 0;

  // Identities

  llvm::SmallVector<std::optional<uint32_t>, 2> symbols(mlir::SymbolRefAttr reference) override {
    llvm::SmallVector<std::optional<uint32_t>, 2> parts;
    if (renamed.empty())
      return parts;
    for (mlir::Operation *symbol : renamed.resolve(symbolTables.back(), reference))
      parts.push_back(symbol ? std::optional<uint32_t>(numberOf(symbol)) : std::nullopt);
    return parts;
  }
  bool renamesSymbols() const override { return !renamed.empty(); }

  uint32_t numberOf(mlir::Operation *symbol) {
    return symbolNumbers.try_emplace(symbol, symbolNumbers.size()).first->second;
  }

  void enterSymbolTable(mlir::Operation &table) {
    symbolTables.push_back(&table);
    forgetSymbols();
  }
  void leaveSymbolTable() {
    symbolTables.pop_back();
    forgetSymbols();
  }
  void forgetSymbols() {
    if (renamed.empty())
      return;
    attributes.changeSymbolTable();
    std::fill(recentProperties.begin(), recentProperties.end(), RecentProperties());
  }

  bool isModule() const { return llvm::isa<mlir::ModuleOp>(root); }

  // Contents

  template <typename T> void content(T value) {
    const void *key = value.getAsOpaquePointer();
    Slot &slot = slots[ByAddress::getHashValue(key) % kSlots];
    if (slot.key == key)
      return sink.number(slot.number);
    if (auto known = contents.find(key); known != contents.end()) {
      slot = {key, known->second};
      return sink.number(known->second);
    }
    Digest digest = attributes.of(value);
    uint32_t number = write(digest);
    if (attributes.lastLifetime() == AttributeDigests::Lifetime::SymbolTable)
      return;
    contents.try_emplace(key, number);
    slot = {key, number};
  }

  /// Write a content by its digest; returns its number.
  uint32_t write(const Digest &digest) {
    auto [entry, isNew] = digests.try_emplace(digest, digests.size() + 1);
    sink.number(entry->second);
    if (isNew)
      sink.digest(digest);
    return entry->second;
  }

  void writeAttributes(mlir::Operation &operation) {
    if (!filter.keepsAll()) {
      uint32_t mark = filter.markOf(operation);
      sink.number(mark);
      if (mark & kRenamedSymbol)
        sink.number(numberOf(&operation));
      if (mark & kLiftedConstant)
        sink.lifted(operation);
    }
    writeProperties(operation);
    content(mlir::Attribute(filter.others(operation)));
  }

  void writeProperties(mlir::Operation &operation) {
    llvm::ArrayRef<uint8_t> memory = propertiesMemory(operation);
    if (memory.empty())
      return content(mlir::Attribute(empty));
    if (!filter.dependsOnProperties(operation))
      return content(properties(operation));
    auto name = reinterpret_cast<uintptr_t>(operation.getName().getAsOpaquePointer());
    uint64_t hash = llvm::xxh3_64bits(memory) ^ (name >> 4);
    RecentProperties &recent = recentProperties[hash & (recentProperties.size() - 1)];
    if (recent.operation && recent.operation->getName() == operation.getName() &&
        propertiesMemory(*recent.operation) == memory)
      return sink.number(recent.number);
    mlir::Attribute attribute = properties(operation);
    recent = {&operation, write(attributes.of(attribute))};
    if (++missedProperties == 2 * recentProperties.size() && missedProperties < kMostProperties)
      recentProperties.assign(4 * recentProperties.size(), RecentProperties());
  }

  mlir::Attribute properties(mlir::Operation &operation) {
    mlir::Attribute attribute = filter.properties(operation);
    return attribute ? attribute : mlir::Attribute(empty);
  }

  static llvm::ArrayRef<uint8_t> propertiesMemory(mlir::Operation &operation) {
    auto size = static_cast<size_t>(operation.getPropertiesStorageSize());
    return {operation.getPropertiesStorage().as<const uint8_t *>(), size};
  }

  void writeUses(mlir::Operation &operation) {
    sink.number(operation.getNumOperands());
    if (filter.ignoresOperandOrder(operation))
      writeOperandsSorted(operation);
    else
      for (mlir::Value operand : operation.getOperands())
        writeOperand(operation, operand);
    sink.number(operation.getNumSuccessors());
    for (mlir::Block *successor : operation.getSuccessors()) {
      std::optional<uint32_t> number = numbers.find(successor);
      if (!number)
        return fail(operation, "a successor lies outside of what is fingerprinted");
      sink.number(*number);
    }
  }

  void writeOperandsSorted(mlir::Operation &operation) {
    llvm::SmallVector<std::pair<uint32_t, mlir::Value>, 4> sorted;
    for (mlir::Value operand : operation.getOperands()) {
      std::optional<uint32_t> number = numbers.find(operand);
      sorted.push_back({number ? *number : outerNumber(operation, operand), operand});
    }
    llvm::sort(sorted, llvm::less_first());
    llvm::SmallVector<mlir::Value, 4> operands;
    for (auto [number, operand] : sorted) {
      number < kOuterValues ? sink.number(number) : writeOuter(number, operand);
      operands.push_back(operand);
    }
    sink.sorted(operation, operands);
  }

  void writeOperand(mlir::Operation &user, mlir::Value operand) {
    std::optional<uint32_t> number = numbers.find(operand);
    if (LLVM_LIKELY(number.has_value()))
      sink.number(*number);
    else
      writeOuter(outerNumber(user, operand), operand);
  }

  // Not inlined: the loop over operands is hot, and these hardly ever run.
  LLVM_ATTRIBUTE_NOINLINE uint32_t outerNumber(mlir::Operation &user, mlir::Value value) {
    if (!numbers.isAround() || isInside(value))
      fail(user, "an operand is defined where it cannot be seen");
    return kOuterValues + outer.insert({value, outer.size()}).first->second;
  }

  LLVM_ATTRIBUTE_NOINLINE void writeOuter(uint32_t number, mlir::Value value) {
    sink.number(number);
    if (number != kOuterValues + outerTypes)
      return;
    ++outerTypes;
    content(value.getType());
  }

  bool isInside(mlir::Value value) {
    mlir::Block *block = value.getParentBlock();
    mlir::Operation *parent = block ? block->getParentOp() : nullptr;
    return parent && root->isAncestor(parent);
  }

  /// What operation() would write for a plain module around `root`, and its block.
  void beginModule() {
    mlir::OperationName module(mlir::ModuleOp::getOperationName(), root->getContext());
    content(module.getIdentifier());
    if (!filter.keepsAll())
      sink.number(policy.ignoreModuleName ? kUnnamedModule : kPlain);
    content(mlir::Attribute(empty)); // properties
    content(mlir::Attribute(empty)); // attributes
    sink.number(0);                  // operands
    sink.number(0);                  // successors
    sink.number(0);                  // results
    if (!policy.ignoreLocations)
      content(mlir::Attribute(mlir::UnknownLoc::get(root->getContext())));
    sink.number(1); // region
    sink.number(1); // block
    sink.number(0); // arguments
  }

  void fail(mlir::Operation &operation, llvm::StringRef why) {
    if (!problem.empty())
      return;
    problem = ("'" + operation.getName().getStringRef() + "'").str();
    if (std::string place = placeOf(operation.getLoc()); !place.empty())
      problem += " at " + place;
    problem += ": " + why.str();
  }

  mlir::Operation *root;
  const Policy &policy;
  Sink &sink;
  RenamedSymbols renamed;
  AttributeDigests attributes;
  PolicyAttributes filter;
  const mlir::DictionaryAttr empty = mlir::DictionaryAttr::get(root->getContext());

  VisitOrder order;
  ScopeNumbers numbers;
  // Those around what is walked, from the outermost, which has no operation.
  llvm::SmallVector<mlir::Operation *> symbolTables = {nullptr};
  llvm::DenseMap<mlir::Operation *, uint32_t> symbolNumbers; // of those without a name

  struct HashOfDigest {
    size_t operator()(const Digest &digest) const {
      size_t first;
      std::memcpy(&first, digest.data(), sizeof first);
      return first;
    }
  };
  std::unordered_map<Digest, uint32_t, HashOfDigest> digests; // of contents, to their numbers
  llvm::DenseMap<const void *, uint32_t, ByAddress> contents; // that hold for the program

  /// Contents by which the same few are found over and over.
  struct Slot {
    const void *key = nullptr;
    uint32_t number = 0;
  };
  static constexpr size_t kSlots = 1024;
  std::vector<Slot> slots;

  /// Operations whose properties are often those of the next one of their name, to spare making a
  /// dictionary of these. Equal means equal in memory: that cannot miss a field, as an operator of
  /// the dialect's could; it may differ in padding, at the cost of a dictionary.
  struct RecentProperties {
    mlir::Operation *operation = nullptr;
    uint32_t number = 0;
  };
  static constexpr size_t kRecentProperties = 512; // a power of two; four times as many, and again,
  static constexpr size_t kMostProperties = 16384; // while many are missed
  std::vector<RecentProperties> recentProperties;
  size_t missedProperties = 0;

  llvm::MapVector<mlir::Value, uint32_t> outer; // values from outside, to their places
  uint32_t outerTypes = 0;                      // how many of their types are written

  std::string problem;
};

} // namespace twinjit
