// What LLVM's parser of IR text cannot handle.
#pragma once

#include "llvm/ADT/StringRef.h"

#include <optional>
#include <string>

namespace twinjit::llvmir {

struct TextProblem {
  std::string message;
  size_t offset; // of where it is in the text
};

/// What a look at the words of a text tells.
struct TextSurvey {
  size_t nesting = 0; // of brackets; strings and comments do not count
  std::optional<TextProblem> problem;
};

/// Look for how deep a text is nested and for what would end the process.
///
/// Upstream defect. Versions: LLVM 22 with assertions. Trigger: numbers that are out of range, in
/// `alignstack`, `initializes`, `atomRank`, `flags` and `spFlags`. Symptom: the parser, which
/// reports all others, asserts. Remove when: it reports these.
TextSurvey survey(llvm::StringRef text);

} // namespace twinjit::llvmir
