#include "ir/text.h"

#include "llvm/ADT/StringExtras.h"

#include <algorithm>

namespace twinjit {
namespace {

/// Steps through text; strings and comments are one step each.
class Steps {
public:
  explicit Steps(llvm::StringRef text) : rest(text) {}

  bool isAtEnd() const { return rest.empty(); }
  bool isAt(llvm::StringRef token) const { return rest.starts_with(token); }
  char current() const { return rest.front(); }
  void skip(size_t count) { rest = rest.drop_front(std::min(count, rest.size())); }

  void step() {
    if (isAt("//"))
      rest = rest.drop_until([](char c) { return c == '\n'; });
    else if (isAt("\""))
      skipString();
    else
      skip(1);
  }

  /// Whether it was well formed.
  bool skipString() {
    skip(1);
    while (!isAtEnd() && current() != '\n' && current() != '\v' && current() != '\f') {
      if (current() == '"')
        return skip(1), true;
      size_t escape = current() == '\\' ? lengthOfEscape() : 1;
      if (escape == 0)
        isEscapeBroken = true;
      skip(std::max<size_t>(escape, 1));
    }
    return false;
  }

  bool isEscapeBroken = false;

private:
  size_t lengthOfEscape() const {
    if (rest.size() > 1 && llvm::is_contained(llvm::StringRef("\"\\nt"), rest[1]))
      return 2;
    return rest.size() > 2 && llvm::isHexDigit(rest[1]) && llvm::isHexDigit(rest[2]) ? 3 : 0;
  }

  llvm::StringRef rest;
};

} // namespace

unsigned nestingOf(llvm::StringRef text) {
  unsigned depth = 0, deepest = 0;
  for (Steps steps(text); !steps.isAtEnd();) {
    if (steps.isAt("->") || steps.isAt(">=") || steps.isAt("<=")) {
      steps.skip(2);
      continue;
    }
    if (llvm::is_contained(llvm::StringRef("([{<"), steps.current()))
      deepest = std::max(deepest, ++depth);
    else if (llvm::is_contained(llvm::StringRef(")]}>"), steps.current()))
      depth -= depth != 0;
    steps.step();
  }
  return deepest;
}

bool hasBrokenResources(llvm::StringRef text) {
  Steps steps(text);
  while (!steps.isAtEnd() && !steps.isAt("{-#"))
    steps.step();
  if (steps.isAtEnd())
    return false;
  for (steps.skip(3); !steps.isAtEnd();) {
    if (steps.isAt("#-}"))
      return false;
    char c = steps.current();
    if (c == '"') {
      if (!steps.skipString() || steps.isEscapeBroken)
        return true;
    } else if (llvm::isAlnum(c) || llvm::isSpace(c) || steps.isAt("//") ||
               llvm::is_contained(llvm::StringRef("_$.:,{}-"), c)) {
      steps.step();
    } else {
      return true;
    }
  }
  return true;
}

} // namespace twinjit
