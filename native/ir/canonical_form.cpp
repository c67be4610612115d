#include "ir/canonical_form.h"

#include "ir/program_writer.h"

#include "llvm/Support/raw_ostream.h"

namespace twinjit {
namespace {

/// Keeps what is not in the sequence, and nothing of that.
struct FormSink {
  CanonicalForm &form;
  Poll poll;

  void number(uint32_t) {}
  void digest(const Digest &) {}
  bool stopped() { return poll.isRequested(); }
  void lifted(mlir::Operation &operation) { form.constants.push_back(&operation); }
  void sorted(mlir::Operation &operation, llvm::ArrayRef<mlir::Value> operands) {
    form.operands.push_back({&operation, {operands.begin(), operands.end()}});
  }
};

} // namespace

Outcome<CanonicalForm> canonicalForm(mlir::Operation *root, const Policy &policy,
                                     const Stop &stop) {
  CanonicalForm form;
  FormSink sink{form, Poll(stop)};
  ProgramWriter<FormSink> writer(root, policy, sink);
  std::string problem = writer.run();
  if (!problem.empty())
    return Failure{Kind::Unfingerprintable, problem};
  if (stop.isRequested())
    return stop.failure();
  form.order = writer.takeOrder();
  form.symbols = writer.numberedSymbols();
  return form;
}

Outcome<std::vector<std::pair<std::string, std::string>>>
largeConstants(mlir::Operation *root, const Policy &policy, const Stop &stop) {
  std::vector<std::pair<std::string, std::string>> constants;
  if (!policy.liftFrom)
    return constants;
  auto form = canonicalForm(root, policy, stop);
  if (!form)
    return form.failure();
  for (mlir::Operation *operation : form->constants) {
    LargeConstant constant = *largeConstant(operation, policy);
    std::string type;
    llvm::raw_string_ostream(type) << constant.elements.getType();
    constants.push_back({std::move(type), bytesOf(constant)});
  }
  return constants;
}

} // namespace twinjit
