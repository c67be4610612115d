// The names in a text that is written for an assembler.
#pragma once

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringRef.h"

namespace twinjit {

/// Meet whatever in `text` an assembler could take for a symbol's name, and what stands in quotes.
inline void eachWord(llvm::StringRef text, llvm::function_ref<void(llvm::StringRef)> meet) {
  auto isPart = [](char c) { return llvm::isAlnum(c) || c == '_' || c == '.' || c == '$'; };
  for (llvm::StringRef rest = text; !rest.empty();) {
    rest = rest.drop_until(isPart);
    llvm::StringRef word = rest.take_while(isPart);
    if (!word.empty())
      meet(word);
    rest = rest.drop_front(word.size());
  }
  llvm::SmallVector<llvm::StringRef, 8> quoted;
  text.split(quoted, '"');
  for (size_t i = 1; i < quoted.size(); i += 2)
    meet(quoted[i]);
}

} // namespace twinjit
