#include "llvmir/admission.h"

#include "llvm/ADT/APInt.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/Support/MathExtras.h"

namespace twinjit::llvmir {
namespace {

bool isWordPart(char c) { return llvm::isAlnum(c) || c == '_' || c == '.' || c == '$' || c == '-'; }

/// Reads the words of a text, in the order in which the parser does.
class Surveyor {
public:
  explicit Surveyor(llvm::StringRef text) : text(text) {}

  TextSurvey run();

private:
  void readWord();
  void checkNumber(llvm::StringRef word);
  void checkAfter(llvm::StringRef word);
  void bracket(bool isOpening);
  void refuse(llvm::StringRef word) {
    if (!result.problem)
      result.problem = {(word + " is out of range for " + rule).str(),
                        static_cast<size_t>(word.data() - text.data())};
  }

  llvm::StringRef text;
  size_t at = 0;
  size_t depth = 0;
  llvm::StringRef rule; // the keyword whose numbers are read; empty for none
  size_t ruleDepth = 0; // at which it stands
  TextSurvey result;
};

TextSurvey Surveyor::run() {
  while (at < text.size()) {
    char c = text[at];
    if (c == ';') {
      at = std::min(text.find('\n', at), text.size());
    } else if (c == '"') {
      at = std::min(text.find('"', at + 1), text.size() - 1) + 1;
    } else if (isWordPart(c) || c == '@' || c == '%' || c == '!' || c == '#') {
      readWord();
    } else {
      if (c == '(' || c == '[' || c == '{' || c == '<')
        bracket(true);
      else if (c == ')' || c == ']' || c == '}' || c == '>')
        bracket(false);
      else if (c == ',' && depth == ruleDepth)
        rule = "";
      ++at;
    }
  }
  return result;
}

void Surveyor::bracket(bool isOpening) {
  if (isOpening)
    result.nesting = std::max(result.nesting, ++depth);
  else
    depth -= depth != 0;
  if (!isOpening && depth <= ruleDepth)
    rule = "";
}

void Surveyor::readWord() {
  size_t start = at++;
  while (at < text.size() && isWordPart(text[at]))
    ++at;
  llvm::StringRef word = text.slice(start, at);
  bool isNumber = llvm::isDigit(word.back()) && word.find_first_not_of("-0123456789") == word.npos;
  if (isNumber)
    checkNumber(word);
  else
    checkAfter(word);
}

/// Find out which rule holds for the numbers that follow.
void Surveyor::checkAfter(llvm::StringRef word) {
  static constexpr llvm::StringLiteral kRules[] = {"alignstack", "initializes", "atomRank", "flags",
                                                   "spFlags"};
  bool isPartOfFlags = (rule == "flags" || rule == "spFlags") && word.starts_with("DI");
  if (isPartOfFlags)
    return;
  bool isRule = llvm::is_contained(kRules, word);
  if (!isRule && depth > ruleDepth) // within the brackets of one
    return;
  rule = isRule ? word : "";
  ruleDepth = depth;
}

void Surveyor::checkNumber(llvm::StringRef word) {
  if (rule.empty())
    return;
  uint64_t number = 0;
  bool fits = !word.getAsInteger(10, number);
  bool isGood = true;
  if (rule == "initializes")
    isGood = fits || word.starts_with("-");
  else if (rule == "alignstack")
    isGood = fits && llvm::isPowerOf2_64(number) && number <= 256;
  else if (rule == "atomRank")
    isGood = fits && number <= 7;
  else if (rule == "flags")
    isGood = fits && number <= llvm::BitmaskEnumDetail::Mask<llvm::DINode::DIFlags>();
  else
    isGood = fits && number <= llvm::BitmaskEnumDetail::Mask<llvm::DISubprogram::DISPFlags>();
  if (!isGood)
    refuse(word);
  if (rule == "alignstack" || rule == "atomRank")
    rule = ""; // takes one
}

} // namespace

TextSurvey survey(llvm::StringRef text) { return Surveyor(text).run(); }

} // namespace twinjit::llvmir
