#include "llvmir/encoder.h"
#include "llvmir/walk.h"

namespace twinjit::llvmir {
namespace {

/// Writes what is told, with all identities but local ones left blank.
class BlankSink final : public Sink {
public:
  void begin(const Node &node) override { encoder.begin(node); }
  void field(FieldName name, llvm::ArrayRef<uint8_t> bytes, llvm::ArrayRef<Numbered> identities,
             Printer) override {
    blanks.assign(identities.begin(), identities.end());
    for (Numbered &each : blanks)
      each.number = each.isLocal ? each.number : 0;
    encoder.field(name, bytes, blanks);
  }
  void define(const Numbered &) override {} // in the order in which they are numbered
  void end() override { encoder.end(); }

  Encoder encoder;

private:
  llvm::SmallVector<Numbered, 8> blanks;
};

Ref placeRef(uint64_t place) {
  Ref ref = {};
  for (int i = 0; i != 8; ++i)
    ref[i] = static_cast<uint8_t>(place >> (56 - 8 * i));
  return ref;
}

} // namespace

Ranks rankSymbols(const llvm::Module &module, const Policy &policy, Interner &interner) {
  Ranks ranks;
  const Ranks none;
  auto symbols = symbolsOf(module);
  const AnonymousSymbols anonymous(module, policy);
  llvm::erase_if(symbols,
                 [&](const llvm::GlobalValue *symbol) { return !anonymous.contains(*symbol); });
  if (symbols.empty())
    return ranks;
  BlankSink sink;
  Walk walk(module, policy, interner, none, sink);
  for (auto [place, symbol] : llvm::enumerate(symbols)) {
    if (!policy.ignoreSymbolOrder) {
      ranks[symbol] = placeRef(place);
      continue;
    }
    walk.describe(*symbol);
    ranks[symbol] = interner.intern(sink.encoder.bytes());
    sink.encoder.clear();
  }
  return ranks;
}

} // namespace twinjit::llvmir
