// The names under which programs are compiled.
#pragma once

#include "llvm/ADT/StringRef.h"

#include <string>

namespace twinjit {

/// The symbol of what a program defines as `name`: `name` itself, unless LLVM or MLIR take it for
/// something else.
///
/// Both call the C library and their own runtime by name. Where the program defines that name, the
/// calls would reach the program instead: a function @exp that computes math.exp would call itself.
/// LLVM also folds calls of what it takes for the library's, and reads meaning into some prefixes.
/// Different names give different symbols.
std::string programSymbol(llvm::StringRef name);

/// The symbol through which Function calls the entry point `name` (see codegen/emit.h). No
/// programSymbol() is the same.
std::string callSymbol(llvm::StringRef name);

/// The symbol of what comes along with a library's function, and only the library can name.
std::string librarySymbol(llvm::StringRef name);

/// What the program calls the function of a symbol: the name that programSymbol() or callSymbol()
/// was given, or the library what librarySymbol() was, which is the symbol's end; any other symbol
/// as it is.
llvm::StringRef programName(llvm::StringRef symbol);

} // namespace twinjit
