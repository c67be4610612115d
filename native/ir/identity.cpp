#include "ir/identity.h"

#include "ir/identity_attributes.h"

#include "mlir/IR/Block.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Region.h"
#include "llvm/Support/xxhash.h"

namespace twinjit {
namespace {

// The format, as BLAKE3 gets it from FieldHasher. A digest of an attribute or type is 32 bytes and
// described in identity_attributes.h; other numbers are 8 bytes; lists begin with their length.
//
//   program    string "twinjit.identity", number kVersion, operation
//   operation  tag 1, name, properties, attributes, operands, successors, results, regions
//   name       digest of the name as a string attribute
//   properties, attributes   digest of a dictionary (an empty one where there are none)
//   operands, successors     list of numbers of values, of blocks
//   results    list of digests of types
//   regions    list of lists of blocks
//   block      list of digests of argument types, operations, tag 0
//
// Values and blocks are numbered through the program from its start: an operation's results, then
// all blocks of its regions, each with its arguments, then the operations in them in the same way.
// So a use may come before its definition.
//
// Versions:
//   1  the first
constexpr uint64_t kVersion = 1;

enum Tag : uint8_t { kEnd = 0, kOperation = 1 };

llvm::ArrayRef<uint8_t> propertiesMemory(mlir::Operation &operation) {
  auto size = static_cast<size_t>(operation.getPropertiesStorageSize());
  return {operation.getPropertiesStorage().as<const uint8_t *>(), size};
}

class Fingerprinter {
public:
  explicit Fingerprinter(mlir::MLIRContext *context)
      : attributes(context), empty(attributes.of(mlir::DictionaryAttr::get(context))),
        recentProperties(kRecentProperties) {}

  Outcome<Digest> run(mlir::Operation *root);

private:
  void number(mlir::Operation *root, uint64_t nextBlock);
  void writeModuleOf(mlir::Operation *root);
  void write(mlir::Operation &operation);
  void writeAttributes(mlir::Operation &operation);
  void writeUses(mlir::Operation &operation);
  void write(mlir::Block &block);
  void fail(mlir::Operation &operation, llvm::StringRef why);

  Digest propertiesDigest(mlir::Operation &operation);
  Digest nameDigest(mlir::OperationName name) { return attributes.of(name.getIdentifier()); }
  Digest dictionaryDigest(mlir::Attribute dictionary) {
    return dictionary ? attributes.of(dictionary) : empty;
  }

  AttributeDigests attributes;
  const Digest empty; // of an empty dictionary

  /// Operations whose properties are often those of the next one of their name, to spare making a
  /// dictionary of these. Equal means equal in memory: that cannot miss a field, as an operator of
  /// the dialect's could; it may differ in padding, at the cost of a dictionary.
  struct RecentProperties {
    mlir::Operation *operation = nullptr;
    Digest digest;
  };
  static constexpr size_t kRecentProperties = 512;
  std::vector<RecentProperties> recentProperties;

  FieldHasher stream;
  llvm::DenseMap<const void *, uint64_t, ByAddress> values;
  llvm::DenseMap<const void *, uint64_t, ByAddress> blocks;
  std::string problem; // why the digest would be void
};

Outcome<Digest> Fingerprinter::run(mlir::Operation *root) {
  bool isModule = llvm::isa<mlir::ModuleOp>(root);
  number(root, /*nextBlock=*/isModule ? 0 : 1); // the block around `root` would come first
  stream.string("twinjit.identity");
  stream.number(kVersion);
  if (isModule)
    write(*root);
  else
    writeModuleOf(root);
  if (!problem.empty())
    return Failure{Kind::Unfingerprintable, problem};
  return stream.finish();
}

void Fingerprinter::number(mlir::Operation *root, uint64_t nextBlock) {
  llvm::SmallVector<mlir::Value, 0> inOrder;
  root->walk<mlir::WalkOrder::PreOrder>([&](mlir::Operation *operation) {
    inOrder.append(operation->result_begin(), operation->result_end());
    for (mlir::Region &region : operation->getRegions()) {
      for (mlir::Block &block : region) {
        blocks.try_emplace(&block, nextBlock++);
        inOrder.append(block.args_begin(), block.args_end());
      }
    }
  });
  values.reserve(inOrder.size());
  for (mlir::Value value : inOrder)
    values.try_emplace(value.getAsOpaquePointer(), values.size());
}

/// What write() would write for a plain module around `root`.
void Fingerprinter::writeModuleOf(mlir::Operation *root) {
  mlir::OperationName module(mlir::ModuleOp::getOperationName(), root->getContext());
  stream.tag(kOperation);
  stream.digest(nameDigest(module));
  stream.digest(empty);
  stream.digest(empty);
  stream.number(0); // operands
  stream.number(0); // successors
  stream.number(0); // results
  stream.number(1); // region
  stream.number(1); // block
  stream.number(0); // arguments
  write(*root);
  stream.tag(kEnd);
}

void Fingerprinter::write(mlir::Operation &operation) {
  if (!problem.empty())
    return;
  stream.tag(kOperation);
  writeAttributes(operation);
  writeUses(operation);
  stream.number(operation.getNumResults());
  for (mlir::Type type : operation.getResultTypes())
    stream.digest(attributes.of(type));
  if (!attributes.problem().empty())
    return fail(operation, attributes.problem());
  stream.number(operation.getNumRegions());
  for (mlir::Region &region : operation.getRegions()) {
    stream.number(region.getBlocks().size());
    for (mlir::Block &block : region)
      write(block);
  }
}

void Fingerprinter::writeAttributes(mlir::Operation &operation) {
  stream.digest(nameDigest(operation.getName()));
  stream.digest(propertiesDigest(operation));
  // Not getDiscardableAttrDictionary(): that leaves out the inherent attributes of an operation
  // without properties.
  stream.digest(dictionaryDigest(operation.getRawDictionaryAttrs()));
}

Digest Fingerprinter::propertiesDigest(mlir::Operation &operation) {
  llvm::ArrayRef<uint8_t> memory = propertiesMemory(operation);
  if (memory.empty())
    return empty;
  auto name = reinterpret_cast<uintptr_t>(operation.getName().getAsOpaquePointer());
  RecentProperties &slot =
      recentProperties[(llvm::xxh3_64bits(memory) ^ (name >> 4)) % kRecentProperties];
  if (slot.operation && slot.operation->getName() == operation.getName() &&
      propertiesMemory(*slot.operation) == memory)
    return slot.digest;
  // Not the inherent attributes one by one: they miss fields (a GEP's flags).
  slot = {&operation, dictionaryDigest(operation.getPropertiesAsAttribute())};
  return slot.digest;
}

void Fingerprinter::writeUses(mlir::Operation &operation) {
  stream.number(operation.getNumOperands());
  for (mlir::Value operand : operation.getOperands()) {
    auto found = values.find(operand.getAsOpaquePointer());
    if (found == values.end())
      return fail(operation, "an operand is defined outside of what is fingerprinted");
    stream.number(found->second);
  }
  stream.number(operation.getNumSuccessors());
  for (mlir::Block *successor : operation.getSuccessors()) {
    auto found = blocks.find(successor);
    if (found == blocks.end())
      return fail(operation, "a successor lies outside of what is fingerprinted");
    stream.number(found->second);
  }
}

void Fingerprinter::write(mlir::Block &block) {
  stream.number(block.getNumArguments());
  for (mlir::Type type : block.getArgumentTypes())
    stream.digest(attributes.of(type));
  if (!attributes.problem().empty())
    return fail(*block.getParentOp(), attributes.problem());
  for (mlir::Operation &operation : block)
    write(operation);
  stream.tag(kEnd);
}

void Fingerprinter::fail(mlir::Operation &operation, llvm::StringRef why) {
  if (problem.empty())
    problem = ("'" + operation.getName().getStringRef() + "': " + why).str();
}

} // namespace

Outcome<Digest> fingerprint(mlir::Operation *root) {
  return Fingerprinter(root->getContext()).run(root);
}

} // namespace twinjit
