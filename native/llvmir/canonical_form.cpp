#include "llvmir/canonical_form.h"

#include "llvmir/walk.h"

namespace twinjit::llvmir {
namespace {

class NotingSink final : public Sink {
public:
  void begin(const Node &) override {}
  void field(FieldName, llvm::ArrayRef<uint8_t>, llvm::ArrayRef<Numbered>, Printer) override {}
  void define(const Numbered &) override {}
  void end() override {}

  void symbol(const llvm::GlobalValue &symbol, bool hasName) override {
    form.symbols.push_back(&symbol);
    if (!hasName)
      form.anonymous.push_back(&symbol);
  }
  void swapped(const llvm::User &user) override { form.swapped.push_back(&user); }
  void leftOut(const llvm::Value &owner, unsigned kind, const llvm::MDNode &node) override {
    form.attachments.push_back({&owner, kind, &node});
  }
  void lifted(const llvm::GlobalVariable &variable) override { form.lifted.push_back(&variable); }

  CanonicalForm form;
};

} // namespace

Outcome<CanonicalForm> canonicalForm(const llvm::Module &module, const Policy &policy) {
  DigestInterner interner; // orders depend on Refs, and are to be those of the fingerprint
  NotingSink sink;
  Ranks ranks = rankSymbols(module, policy, interner);
  std::string problem = Walk(module, policy, interner, ranks, sink).run();
  if (!problem.empty())
    return Failure{Kind::Unfingerprintable, "the LLVM module has " + problem};
  return std::move(sink.form);
}

} // namespace twinjit::llvmir
