#include "llvmir/identity.h"

#include "llvmir/encoder.h"
#include "llvmir/walk.h"

#include "llvm/Config/llvm-config.h"

namespace twinjit::llvmir {
namespace {

// A fingerprint is the BLAKE3 digest of
//   string "twinjit.identity.llvm", number kVersion, number LLVM's major version,
//   string the policy's text, string domain, module
// in the format that encoder.h describes, with Refs that are digests. The names of fields and the
// tags within contents are where these are written.
//
// Versions:
//   1  the first
constexpr uint64_t kVersion = 1;

class HashingSink final : public Sink {
public:
  HashingSink(const Policy &policy, llvm::StringRef domain) {
    Fields header;
    header.string("twinjit.identity.llvm");
    header.number(kVersion);
    header.number(LLVM_VERSION_MAJOR);
    header.string(policy.text);
    header.string(domain);
    hasher.encoded(header.bytes());
  }

  void begin(const Node &node) override {
    encoder.begin(node);
    flush();
  }
  void field(FieldName name, llvm::ArrayRef<uint8_t> bytes, llvm::ArrayRef<Numbered> identities,
             Printer) override {
    encoder.field(name, bytes, identities);
    flush();
  }
  void define(const Numbered &identity) override { encoder.define(identity); }
  void end() override { encoder.end(); }

  Digest finish() {
    hasher.encoded(encoder.bytes());
    return hasher.finish();
  }

private:
  void flush() {
    hasher.encoded(encoder.bytes());
    encoder.clear();
  }

  Encoder encoder;
  FieldHasher hasher;
};

/// Writes a module down with its contents as numbers in a table.
class RecordingSink : public Sink {
public:
  explicit RecordingSink(TableInterner &interner) : interner(interner) {}

  void begin(const Node &node) override {
    encoder.begin(node);
    flush();
  }
  void field(FieldName name, llvm::ArrayRef<uint8_t> bytes, llvm::ArrayRef<Numbered> identities,
             Printer) override {
    Ref ref = interner.intern(bytes);
    encoder.field(name, llvm::ArrayRef(ref).take_front(ContentTable::kNumberSize), identities);
    flush();
  }
  void define(const Numbered &identity) override { encoder.define(identity); }
  void end() override { encoder.end(); }

  void finish() { flush(); }

protected:
  virtual void append(llvm::ArrayRef<uint8_t> bytes) {
    recorded.insert(recorded.end(), bytes.begin(), bytes.end());
  }

  std::vector<uint8_t> recorded;

private:
  friend class ComparingSink;

  void flush() {
    append(encoder.bytes());
    encoder.clear();
  }

  TableInterner &interner;
  Encoder encoder;
};

/// Compares a module with one written down before, with the same table.
class ComparingSink final : public RecordingSink {
public:
  ComparingSink(TableInterner &interner, const RecordingSink &other)
      : RecordingSink(interner), rest(other.recorded) {}

  bool isSettled() const override { return differs; }
  bool isSame() const { return !differs && rest.empty(); }

protected:
  void append(llvm::ArrayRef<uint8_t> bytes) override {
    if (differs)
      return;
    if (rest.size() < bytes.size() || rest.take_front(bytes.size()) != bytes)
      differs = true;
    else
      rest = rest.drop_front(bytes.size());
  }

private:
  llvm::ArrayRef<uint8_t> rest; // of the other, still to come
  bool differs = false;
};

/// Tells `module` to `sink`; returns why it cannot be told, or nothing.
std::string tell(const llvm::Module &module, const Policy &policy, Interner &interner, Sink &sink) {
  Ranks ranks = rankSymbols(module, policy, interner);
  return Walk(module, policy, interner, ranks, sink).run();
}

Failure unidentified(const std::string &problem) {
  return {Kind::Unfingerprintable, "the LLVM module has " + problem};
}

} // namespace

Outcome<Digest> fingerprint(const llvm::Module &module, const Policy &policy,
                            llvm::StringRef domain) {
  DigestInterner interner;
  HashingSink sink(policy, domain);
  std::string problem = tell(module, policy, interner, sink);
  if (!problem.empty())
    return unidentified(problem);
  return sink.finish();
}

Outcome<bool> equivalent(const llvm::Module &a, const llvm::Module &b, const Policy &policy) {
  TableInterner interner;
  RecordingSink first(interner);
  std::string problem = tell(a, policy, interner, first);
  if (!problem.empty())
    return unidentified(problem);
  first.finish();
  ComparingSink second(interner, first);
  problem = tell(b, policy, interner, second);
  if (!problem.empty())
    return unidentified(problem);
  second.finish();
  return second.isSame();
}

} // namespace twinjit::llvmir
