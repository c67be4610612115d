#include "ir/outline.h"

#include "ir/identity.h"
#include "ir/identity_attributes.h"
#include "ir/outline_text.h"
#include "ir/policy_attributes.h"
#include "ir/program_writer.h"
#include "ir/scope_numbers.h"
#include "ir/symbol_order.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"

namespace twinjit {
namespace {

/// Leaves identities out of digests, and collects them instead. What is written for one is its
/// place among those of the field, in order of first occurrence.
class Collected final : public Identities {
public:
  /// Looks symbols up in what is `symbolTable` at the time.
  Collected(const RenamedSymbols &renamed, mlir::Operation *const &symbolTable)
      : renamed(renamed), symbolTable(symbolTable) {}

  llvm::SmallVector<std::optional<uint32_t>, 2> symbols(mlir::SymbolRefAttr reference) override {
    llvm::SmallVector<std::optional<uint32_t>, 2> parts;
    if (renamed.empty())
      return parts;
    for (mlir::Operation *symbol : renamed.resolve(symbolTable, reference))
      parts.push_back(symbol ? std::optional<uint32_t>(collect(symbol)) : std::nullopt);
    return parts;
  }
  bool renamesSymbols() const override { return !renamed.empty(); }

  std::optional<uint32_t> distinct(mlir::DistinctAttr attribute) override {
    return collect(attribute.getAsOpaquePointer());
  }
  bool isBrief() const override { return true; }

  /// The number of an identity, by the address of what it stands for.
  uint64_t of(const void *thing) {
    return numbers.try_emplace(thing, numbers.size()).first->second;
  }
  uint64_t of(mlir::Value value) { return of(value.getAsOpaquePointer()); }

  /// Those of the field that ends here.
  std::vector<uint64_t> take() {
    total += found.size();
    return found.takeVector();
  }

  /// How many were taken so far.
  size_t taken() const { return total; }

private:
  uint32_t collect(const void *thing) {
    uint64_t identity = of(thing);
    found.insert(identity);
    return static_cast<uint32_t>(llvm::find(found, identity) - found.begin());
  }

  const RenamedSymbols &renamed;
  mlir::Operation *const &symbolTable;
  llvm::DenseMap<const void *, uint64_t> numbers;
  llvm::SetVector<uint64_t, std::vector<uint64_t>> found;
  size_t total = 0;
};

/// For what a ProgramWriter finds on its way.
struct NoSink : PlainSink {
  void number(uint32_t) {}
  void digest(const Digest &) {}
  bool stopped() const { return false; }
};

class Outliner {
public:
  Outliner(mlir::Operation *root, const Policy &policy)
      : root(root), policy(policy), texts(root), renamed(root, policy),
        identities(renamed, symbolTable), attributes(root->getContext(), identities),
        filter(policy, renamed, root), numbers(root, filter, order) {
    orderSymbols(root, filter, order);
  }

  Outcome<std::vector<OutlineRecord>> run() {
    NoSink sink;
    ProgramWriter<NoSink> writer(root, policy, sink);
    if (std::string problem = writer.run(); !problem.empty())
      return Failure{Kind::Unfingerprintable, problem};
    for (mlir::Value value : writer.outerValues())
      outer.insert({value, outer.size()});
    Walk<Outliner>(order, *this).run(*root);
    if (!attributes.problem().empty())
      return Failure{Kind::Unfingerprintable, attributes.problem()};
    return std::move(records);
  }

  // What the walk calls.
  void operation(mlir::Operation &operation) {
    if (isSymbolTable(operation)) { // its own attributes may mean what is in it
      symbolTables.push_back(&operation);
      changeSymbolTable(&operation);
    }
    numbers.define(operation);
    uint32_t mark = filter.markOf(operation);
    mlir::StringAttr name = symbolName(&operation);
    OutlineRecord &record = records.emplace_back(
        OutlineRecord{depth, "operation", operation.getName().getStringRef().str(),
                      name && !(mark & (kRenamedSymbol | kUnnamedModule)) ? name.str() : "",
                      placeOf(operation.getLoc())});
    if (mark & kRenamedSymbol)
      record.defines.push_back({identities.of(&operation), "@" + name.str()});
    for (mlir::Value result : operation.getResults())
      record.defines.push_back({identities.of(result), texts.of(result)});
    describe(operation, record);
    if (&operation == root)
      defineOuterValues(record);
    if (operation.getNumRegions() == 0)
      close(operation, records.size() - 1, identities.taken());
  }

  bool descend(mlir::Operation &operation) {
    open.push_back({records.size() - 1, identities.taken()});
    if (isScope(operation))
      numbers.enter(operation);
    ++depth;
    return true;
  }

  void endOperation(mlir::Operation &operation) {
    --depth;
    if (isScope(operation))
      numbers.leave();
    if (isSymbolTable(operation)) {
      symbolTables.pop_back();
      changeSymbolTable(symbolTables.back());
    }
    auto [record, met] = open.pop_back_val();
    close(operation, record, met);
  }

  void region(mlir::Region &region) {
    records.push_back({depth, "region", "region", "", ""});
    if (!region.empty() && !region.hasOneBlock())
      numbers.goAhead(); // settles the order of the blocks, too
  }
  void reached(mlir::Region &) {}

  void block(mlir::Block &block) {
    numbers.define(block);
    OutlineRecord &record =
        records.emplace_back(OutlineRecord{depth + 1, "block", "block", "", ""});
    record.defines.push_back({identities.of(&block), texts.of(block)});
    for (mlir::BlockArgument argument : block.getArguments()) {
      std::string name = "argument " + std::to_string(argument.getArgNumber());
      record.defines.push_back({identities.of(argument), texts.of(argument)});
      add(record, name + " type", argument.getType());
      if (!policy.ignoreLocations)
        add(record, name + " location", mlir::Attribute(argument.getLoc()));
    }
    depth += 2;
  }
  void endBlock(mlir::Block &) { depth -= 2; }
  bool stopped() { return !attributes.problem().empty(); }

private:
  void describe(mlir::Operation &operation, OutlineRecord &record) {
    addAttributes(operation, record);
    llvm::SmallVector<mlir::Value> operands = sortedOperands(operation);
    for (auto [index, operand] : llvm::enumerate(operands))
      addReference(record, "operand " + std::to_string(index), identities.of(operand),
                   nameOf(operand));
    for (auto [index, successor] : llvm::enumerate(operation.getSuccessors()))
      addReference(record, "successor " + std::to_string(index), identities.of(successor),
                   texts.of(*successor));
    for (mlir::OpResult result : operation.getResults())
      add(record, "result " + std::to_string(result.getResultNumber()) + " type", result.getType());
    if (!policy.ignoreLocations)
      add(record, "location", mlir::Attribute(operation.getLoc()));
  }

  /// The program has the values that it uses from outside as if they were its parameters.
  void defineOuterValues(OutlineRecord &record) {
    for (auto [value, place] : outer) {
      record.defines.push_back({identities.of(value), nameOf(value)});
      add(record, nameOf(value) + " type", value.getType());
    }
  }

  std::string nameOf(mlir::Value value) {
    auto *found = outer.find(value);
    return found == outer.end() ? texts.of(value) : "outer value " + std::to_string(found->second);
  }

  void addAttributes(mlir::Operation &operation, OutlineRecord &record) {
    if (filter.markOf(operation) & kLiftedConstant)
      addMark(record, "constant", "lifted");
    mlir::Attribute properties = filter.properties(operation);
    auto inherent = llvm::dyn_cast_if_present<mlir::DictionaryAttr>(properties);
    if (inherent)
      addAll(record, inherent, operation.isRegistered() ? "attribute " : "property ");
    else if (properties)
      add(record, "properties", properties);
    mlir::DictionaryAttr others = filter.others(operation);
    bool overlap = inherent && llvm::any_of(others, [&](mlir::NamedAttribute each) {
                     return inherent.contains(each.getName());
                   });
    addAll(record, others, overlap ? "discardable attribute " : "attribute ");
  }

  void addAll(OutlineRecord &record, mlir::DictionaryAttr dictionary, llvm::StringRef what) {
    for (mlir::NamedAttribute attribute : dictionary)
      if (attribute.getName() != mlir::SymbolTable::getSymbolAttrName() || record.symbol.empty())
        add(record, (what + attribute.getName().getValue()).str(), attribute.getValue());
  }

  template <typename T> void add(OutlineRecord &record, std::string name, T value) {
    Digest digest = attributes.of(value);
    std::vector<uint64_t> references = identities.take();
    if (!references.empty())
      attributes.changeSymbolTable(); // places in another field are others
    record.fields.push_back({std::move(name), digest, texts.of(value), std::move(references)});
  }

  void addReference(OutlineRecord &record, std::string name, uint64_t identity, std::string text) {
    record.fields.push_back({std::move(name), Digest{}, std::move(text), {identity}});
  }

  void addMark(OutlineRecord &record, std::string name, llvm::StringRef text) {
    FieldHasher mark;
    mark.string(text);
    record.fields.push_back({std::move(name), mark.finish(), text.str()});
  }

  llvm::SmallVector<mlir::Value> sortedOperands(mlir::Operation &operation) {
    llvm::SmallVector<mlir::Value> operands(operation.getOperands());
    if (!filter.ignoresOperandOrder(operation))
      return operands;
    llvm::stable_sort(operands,
                      [this](mlir::Value a, mlir::Value b) { return numberOf(a) < numberOf(b); });
    return operands;
  }

  /// As ProgramWriter numbers it.
  uint32_t numberOf(mlir::Value value) {
    if (auto *found = outer.find(value); found != outer.end())
      return kOuterValues + found->second;
    return numbers.find(value).value_or(0);
  }

  void changeSymbolTable(mlir::Operation *table) {
    symbolTable = table;
    attributes.changeSymbolTable();
  }

  /// Give an operation right below the root a digest, if nothing in it refers to what is outside.
  void close(mlir::Operation &operation, size_t record, size_t metBefore) {
    if (operation.getParentOp() != root || !isScope(operation) || operation.getNumOperands() != 0 ||
        identities.taken() != metBefore)
      return;
    if (Outcome<Digest> digest = fingerprint(&operation, policy))
      records[record].digest = *digest;
  }

  mlir::Operation *root;
  const Policy &policy;
  OutlineText texts;
  RenamedSymbols renamed;
  llvm::SmallVector<mlir::Operation *> symbolTables = {nullptr}; // null is around the root
  mlir::Operation *symbolTable = nullptr;                        // that is walked
  Collected identities;
  AttributeDigests attributes;
  PolicyAttributes filter;
  VisitOrder order;
  llvm::MapVector<mlir::Value, uint32_t> outer; // values from outside, to their places
  ScopeNumbers numbers;
  struct Open {
    size_t record;
    size_t met; // identities before it
  };
  llvm::SmallVector<Open> open;
  uint64_t depth = 0;
  std::vector<OutlineRecord> records;
};

} // namespace

Outcome<std::vector<OutlineRecord>> outline(mlir::Operation *root, const Policy &policy) {
  return Outliner(root, policy).run();
}

} // namespace twinjit
