#include "llvmir/outline.h"

#include "llvmir/encoder.h"
#include "llvmir/walk.h"

namespace twinjit::llvmir {
namespace {

llvm::StringRef nameOf(NodeKind kind) {
  switch (kind) {
  case NodeKind::Module:
    return "module";
  case NodeKind::Global:
    return "global";
  case NodeKind::Alias:
    return "alias";
  case NodeKind::IFunc:
    return "ifunc";
  case NodeKind::Function:
    return "function";
  case NodeKind::Block:
    return "block";
  case NodeKind::Instruction:
    return "instruction";
  case NodeKind::DebugRecord:
    return "debug record";
  case NodeKind::NamedMetadata:
    return "named metadata";
  case NodeKind::Metadata:
    return "metadata";
  }
  return "";
}

std::string placeOf(const llvm::DILocation *location) {
  if (!location)
    return "";
  return (location->getFilename() + ":" + llvm::Twine(location->getLine()) + ":" +
          llvm::Twine(location->getColumn()))
      .str();
}

std::string placeOf(const llvm::Function &function) {
  const llvm::DISubprogram *subprogram = function.getSubprogram();
  if (!subprogram)
    return "";
  return (subprogram->getFilename() + ":" + llvm::Twine(subprogram->getLine()) + ":0").str();
}

class OutlineSink final : public Sink {
public:
  explicit OutlineSink(const llvm::Module &module) : module(module), slots(&module) {}

  void begin(const Node &node) override;
  void field(FieldName name, llvm::ArrayRef<uint8_t> bytes, llvm::ArrayRef<Numbered> identities,
             Printer print) override;
  void define(const Numbered &identity) override;
  void end() override;

  std::vector<OutlineRecord> records;

private:
  /// A node right below the module, from its beginning on.
  struct Part {
    size_t record;
    Encoder encoder;
    FieldHasher hasher;
    bool isClosed = true; // mentions nothing that is told outside of it
  };

  uint64_t numberOf(const Numbered &identity) {
    return numbers.try_emplace(identity.identity, numbers.size()).first->second;
  }
  void hash() {
    part.hasher.encoded(part.encoder.bytes());
    part.encoder.clear();
  }
  std::string nameOf(Identity identity);

  const llvm::Module &module;
  llvm::ModuleSlotTracker slots;
  llvm::DenseMap<Identity, uint64_t> numbers;
  llvm::SmallVector<size_t, 4> open; // records of the nodes begun and not ended
  Part part;
};

void OutlineSink::begin(const Node &node) {
  if (open.size() == 1)
    part = Part{records.size(), Encoder(), FieldHasher(), true};
  if (node.function)
    slots.incorporateFunction(*node.function);
  OutlineRecord record;
  record.depth = open.size();
  record.kind = llvmir::nameOf(node.kind);
  record.label = node.label.str();
  record.symbol = node.symbol.str();
  record.location = node.function ? placeOf(*node.function) : placeOf(node.location);
  open.push_back(records.size());
  records.push_back(std::move(record));
  if (open.size() > 1)
    part.encoder.begin(node);
}

void OutlineSink::field(FieldName name, llvm::ArrayRef<uint8_t> bytes,
                        llvm::ArrayRef<Numbered> identities, Printer print) {
  OutlineField field;
  field.name = name.text.str();
  if (name.index >= 0)
    field.name += " " + std::to_string(name.index);
  field.digest = llvm::BLAKE3::hash<32>(bytes);
  llvm::raw_string_ostream stream(field.text);
  print(stream, slots);
  field.text = shortened(std::move(field.text));
  for (const Numbered &each : identities)
    field.references.push_back(numberOf(each));
  records[open.back()].fields.push_back(std::move(field));
  if (open.size() == 1)
    return;
  part.isClosed &= llvm::all_of(identities, [](const Numbered &each) { return each.isLocal; });
  part.encoder.field(name, bytes, identities);
  hash();
}

void OutlineSink::define(const Numbered &identity) {
  records[open.back()].defines.emplace_back(numberOf(identity), nameOf(identity.identity));
  part.isClosed &= identity.isLocal;
  part.encoder.define(identity);
}

void OutlineSink::end() {
  if (open.size() > 1)
    part.encoder.end();
  if (open.size() == 2) {
    hash();
    if (part.isClosed)
      records[part.record].digest = part.hasher.finish();
  }
  open.pop_back();
}

std::string OutlineSink::nameOf(Identity identity) {
  std::string name;
  llvm::raw_string_ostream stream(name);
  if (auto *value = llvm::dyn_cast<const llvm::Value *>(identity))
    value->printAsOperand(stream, /*PrintType=*/false, slots);
  else
    llvm::cast<const llvm::MDNode *>(identity)->printAsOperand(stream, slots, &module);
  return name;
}

} // namespace

Outcome<std::vector<OutlineRecord>> outline(const llvm::Module &module, const Policy &policy) {
  DigestInterner interner;
  OutlineSink sink(module);
  Ranks ranks = rankSymbols(module, policy, interner);
  std::string problem = Walk(module, policy, interner, ranks, sink).run();
  if (!problem.empty())
    return Failure{Kind::Unfingerprintable, "the LLVM module has " + problem};
  return std::move(sink.records);
}

} // namespace twinjit::llvmir
