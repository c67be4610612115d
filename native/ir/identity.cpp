#include "ir/identity.h"

#include "ir/program_writer.h"

namespace twinjit {
namespace {

// A fingerprint is BLAKE3-256 over, as FieldHasher (digest.h) writes them:
//   string "twinjit.identity", number kVersion, string policy (the text of src/twinjit/policy.py),
//   string domain, then the sequence of program_writer.h: numbers as number32, digests as digest.
//
// The promise: one version and one major version of MLIR give the same fingerprint on every
// machine, in every process and Python. What changes any program's fingerprint bumps the version.
//
//   1  strict only; operations hashed field by field
//   2  policies and domains; contents are written once and then by number; values are numbered
//      within the nearest isolated operation; the listing of blocks does not count; what a dialect
//      prints goes in without the text of its parts, which go in by content
constexpr uint64_t kVersion = 2;

class HashSink : public PlainSink {
public:
  HashSink(const Policy &policy, llvm::StringRef domain, const Stop &stop) : poll(stop) {
    fields.string("twinjit.identity");
    fields.number(kVersion);
    fields.string(policy.text);
    fields.string(domain);
  }

  void number(uint32_t value) {
    if (used == buffer.size())
      flush();
    buffer[used++] = value;
  }
  void digest(const Digest &value) {
    if (used + kDigestWords > buffer.size())
      flush();
    std::memcpy(&buffer[used], value.data(), sizeof value);
    used += kDigestWords;
  }
  bool stopped() { return poll.isRequested(); }
  Digest finish() {
    flush();
    return fields.finish();
  }

private:
  static constexpr size_t kDigestWords = sizeof(Digest) / sizeof(uint32_t);

  void flush() {
    static_assert(llvm::endianness::native == llvm::endianness::little,
                  "a number lies in memory as number32 writes it");
    fields.encoded({reinterpret_cast<const uint8_t *>(buffer.data()), used * sizeof(uint32_t)});
    used = 0;
  }

  FieldHasher fields;
  std::array<uint32_t, 2048> buffer; // not yet in `fields`
  size_t used = 0;
  Poll poll;
};

/// Keeps a sequence. Its digests are numbers in a ContentTable.
struct RecordingSink : PlainSink {
  std::vector<uint32_t> sequence;

  void number(uint32_t value) { sequence.push_back(value); }
  void digest(const Digest &value) { sequence.push_back(ContentTable::numberIn(value)); }
  bool stopped() const { return false; }
};

/// Compares with a recorded sequence, up to the first difference.
class ComparingSink : public PlainSink {
public:
  explicit ComparingSink(const std::vector<uint32_t> &other) : other(other) {}

  void number(uint32_t value) { differs |= position == other.size() || other[position++] != value; }
  void digest(const Digest &value) { number(ContentTable::numberIn(value)); }
  bool stopped() const { return differs; }
  bool isSame() const { return !differs && position == other.size(); }

private:
  const std::vector<uint32_t> &other;
  size_t position = 0;
  bool differs = false;
};

} // namespace

Outcome<Digest> fingerprint(mlir::Operation *root, const Policy &policy, llvm::StringRef domain,
                            const Stop &stop) {
  HashSink sink(policy, domain, stop);
  std::string problem = ProgramWriter<HashSink>(root, policy, sink).run();
  if (!problem.empty())
    return Failure{Kind::Unfingerprintable, problem};
  if (sink.stopped() || stop.isRequested())
    return stop.failure("fingerprint");
  return sink.finish();
}

Outcome<bool> equivalent(mlir::Operation *a, mlir::Operation *b, const Policy &policy) {
  ContentTable contents;
  RecordingSink first;
  std::string problem = ProgramWriter<RecordingSink>(a, policy, first, &contents).run();
  if (!problem.empty())
    return Failure{Kind::Unfingerprintable, problem};
  ComparingSink second(first.sequence);
  problem = ProgramWriter<ComparingSink>(b, policy, second, &contents).run();
  if (!problem.empty())
    return Failure{Kind::Unfingerprintable, problem};
  return second.isSame();
}

} // namespace twinjit
