#include "llvmir/module.h"

#include "common/deep_stack.h"
#include "common/diagnostics.h"
#include "llvmir/admission.h"
#include "llvmir/debug_info.h"

#include "llvm/AsmParser/Parser.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/IR/DebugInfo.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Metadata.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"

namespace twinjit::llvmir {
namespace {

/// Have LLVM not look at debug info when it reads a module: Reader does.
///
/// Upstream defect. Versions: LLVM 22. Trigger: a module that says its debug info is current and
/// breaks a rule of LLVM IR, or of debug info. Symptom: reading it runs the verifier, which writes
/// to stderr, and ends the process if the rule is not one of debug info. The option is the only way
/// around that; it holds for all who use this libLLVM in the process, whose broken debug info is
/// then not dropped. Remove when: readers can be told so, or report what they find.
void leaveDebugInfoAlone() {
  static const bool done = [] {
    auto &options = llvm::cl::getRegisteredOptions();
    auto found = options.find("disable-auto-upgrade-debug-info");
    return found != options.end() &&
           !found->second->addOccurrence(0, "disable-auto-upgrade-debug-info", "true");
  }();
  (void)done;
}

/// LLVM's parser, verifier and printer recurse. The most that the stack which runs them is made
/// for.
constexpr size_t kMaxNesting = 250'000;
constexpr size_t kStackPerLevel = 8192;
constexpr size_t kStackAtLeast = 64 << 20;
/// Nodes of metadata that wait for one another are resolved by recursion.
constexpr size_t kStackPerByte = 64;
constexpr size_t kStackAtMost = size_t(2) << 30;

/// Upstream defect. Versions: LLVM 22 with assertions. Trigger: an atomic load or store of a
/// scalable vector. Symptom: the verifier, which knows no size of it, asserts. Remove when: it
/// reports it.
bool hasScalableAtomics(const llvm::Module &module) {
  auto isBad = [](const llvm::Instruction &instruction) {
    return instruction.isAtomic() &&
           llvm::any_of(instruction.operand_values(), [&](const llvm::Value *operand) {
             return operand->getType()->isScalableTy() || instruction.getType()->isScalableTy();
           });
  };
  return llvm::any_of(module, [&](const llvm::Function &function) {
    return llvm::any_of(llvm::instructions(function), isBad);
  });
}

/// Upstream defect. Versions: LLVM 22. Trigger: an attribute in quotes that contains a NUL.
/// Symptom: bitcode, whose texts end at a NUL, cannot be read again, and the reader asserts. Remove
/// when: the writer refuses or escapes them.
bool hasNul(const llvm::AttributeSet &attributes) {
  return llvm::any_of(attributes, [](llvm::Attribute each) {
    return each.isStringAttribute() &&
           (each.getKindAsString().contains('\0') || each.getValueAsString().contains('\0'));
  });
}

bool hasNul(const llvm::AttributeList &attributes) {
  return llvm::any_of(attributes, [](const llvm::AttributeSet &each) { return hasNul(each); });
}

bool hasNulInAttributes(const llvm::Module &module) {
  auto isCallBad = [](const llvm::Instruction &instruction) {
    const auto *call = llvm::dyn_cast<llvm::CallBase>(&instruction);
    return call && hasNul(call->getAttributes());
  };
  return llvm::any_of(module.globals(),
                      [](const auto &variable) { return hasNul(variable.getAttributes()); }) ||
         llvm::any_of(module, [&](const llvm::Function &function) {
           return hasNul(function.getAttributes()) ||
                  llvm::any_of(llvm::instructions(function), isCallBad);
         });
}

bool isBitcode(llvm::StringRef source) {
  return llvm::isBitcode(source.bytes_begin(), source.bytes_end());
}

} // namespace

/// Reads one source.
class Reader {
public:
  Reader(llvm::StringRef source, llvm::StringRef name) : source(source), name(name) {}

  Outcome<std::shared_ptr<OwnModule>> run();

private:
  Failure refused(const TextProblem &problem);
  void read();
  void readText();
  void readBitcode();
  void verify();
  bool isValid(bool *isDebugInfoBroken);
  void fail(Kind kind, std::string message) {
    failure = Failure{kind, std::move(message), std::move(diagnostics)};
  }

  llvm::StringRef source;
  std::string name;
  std::shared_ptr<OwnModule> result = std::make_shared<OwnModule>();
  std::vector<Diagnostic> diagnostics;
  std::optional<Failure> failure;
};

Outcome<std::shared_ptr<OwnModule>> Reader::run() {
  leaveDebugInfoAlone();
  TextSurvey text = isBitcode(source) ? TextSurvey() : survey(source);
  if (text.problem)
    return refused(*text.problem);
  if (text.nesting > kMaxNesting)
    return Failure{Kind::Parse, "cannot parse " + name + " as LLVM IR: it is nested more than " +
                                    std::to_string(kMaxNesting) + " deep"};
  size_t stack = kStackAtLeast + text.nesting * kStackPerLevel + source.size() * kStackPerByte;
  result->stackBytes = std::min(stack, kStackAtMost);
  runWithStack(result->stackBytes, [&] { read(); });
  if (failure)
    return *failure;
  // What the handler collects into goes with this.
  result->context.setDiagnosticHandler(std::make_unique<llvm::DiagnosticHandler>());
  return result;
}

Failure Reader::refused(const TextProblem &problem) {
  llvm::StringRef before = source.take_front(problem.offset);
  size_t start = before.rfind('\n') + 1; // 0 without any
  size_t column = problem.offset - start;
  Diagnostic diagnostic{"error",
                        problem.message,
                        name,
                        static_cast<unsigned>(before.count('\n') + 1),
                        static_cast<unsigned>(column + 1),
                        excerpt(source.drop_front(start).split('\n').first, column)};
  return {Kind::Parse, "cannot parse " + name + " as LLVM IR", {diagnostic}};
}

void Reader::read() {
  result->context.setDiagnosticHandler(std::make_unique<DiagnosticCollector>(diagnostics));
  if (isBitcode(source))
    readBitcode();
  else
    readText();
  if (result->module)
    verify();
  if (failure)
    result.reset(); // here, where the stack is deep
}

void Reader::readText() {
  auto buffer = llvm::MemoryBuffer::getMemBufferCopy(source, name); // ends with a NUL
  llvm::SMDiagnostic error;
  result->module = llvm::parseAssembly(*buffer, error, result->context);
  if (result->module)
    return;
  unsigned column = static_cast<unsigned>(error.getColumnNo() + 1);
  diagnostics.push_back({"error", error.getMessage().str(), name,
                         static_cast<unsigned>(std::max(error.getLineNo(), 0)), column,
                         excerpt(error.getLineContents(), std::max(error.getColumnNo(), 0))});
  fail(Kind::Parse, "cannot parse " + name + " as LLVM IR");
}

void Reader::readBitcode() {
  auto module = llvm::parseBitcodeFile(llvm::MemoryBufferRef(source, name), result->context);
  if (module) {
    result->module = std::move(*module);
    return;
  }
  diagnostics.push_back({"error", llvm::toString(module.takeError()), name});
  fail(Kind::Parse, "cannot read " + name + " as LLVM bitcode");
}

/// Drop debug info of another version, or that breaks its rules, as LLVM does when it reads a
/// module: that is no reason to refuse a program.
void Reader::verify() {
  llvm::Module &module = *result->module;
  if (source.contains("\\00") && hasNulInAttributes(module)) // text: no bitcode can hold it
    return fail(Kind::Verification, name + " has an attribute that contains a NUL");
  if (hasScalableAtomics(module))
    return fail(Kind::Verification, name + " has an atomic access to a scalable vector");
  if (hasMisplacedDebugInfo(module)) {
    dropDebugInfo(module);
    if (hasMisplacedDebugInfo(module))
      return fail(Kind::Verification, name + " has metadata that misuses nodes of debug info");
  }
  bool isDebugInfoBroken = false;
  if (!isValid(&isDebugInfoBroken))
    return;
  bool isOutdated = module.getNamedMetadata("llvm.dbg.cu") &&
                    llvm::getDebugMetadataVersionFromModule(module) != llvm::DEBUG_METADATA_VERSION;
  if (!isDebugInfoBroken && !isOutdated)
    return;
  dropDebugInfo(module);
  isValid(nullptr); // there may be more of it in metadata that has another purpose
}

/// Whether the module is valid; otherwise fails. `isDebugInfoBroken` is told whether its debug info
/// is not; null makes that a reason to fail, too.
bool Reader::isValid(bool *isDebugInfoBroken) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  if (!llvm::verifyModule(*result->module, &stream, isDebugInfoBroken))
    return true;
  constexpr size_t kEnough = 4000;
  if (text.size() > kEnough)
    text = text.substr(0, kEnough) + " …";
  diagnostics.push_back({"error", llvm::StringRef(text).rtrim().str()});
  fail(Kind::Verification, name + " is not valid LLVM IR");
  return false;
}

void OwnModule::onItsStack(llvm::function_ref<void()> work) const {
  runWithStack(stackBytes, work);
}

std::string OwnModule::text() const {
  std::string result;
  llvm::raw_string_ostream stream(result);
  onItsStack([&] { module->print(stream, nullptr); });
  return result;
}

std::string OwnModule::bitcode() const {
  std::string result;
  llvm::raw_string_ostream stream(result);
  onItsStack([&] { llvm::WriteBitcodeToFile(*module, stream); });
  return result;
}

Outcome<std::shared_ptr<OwnModule>> OwnModule::parse(llvm::StringRef source, llvm::StringRef name) {
  return Reader(source, name).run();
}

} // namespace twinjit::llvmir
