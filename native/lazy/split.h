// One function of a module as a program of its own.
#pragma once

#include "common/outcome.h"
#include "llvmir/module.h"

#include <memory>
#include <string>
#include <vector>

namespace twinjit::lazy {

/// What the code of a part refers to and its module does not define, by the symbol that it has
/// there.
struct Link {
  enum class Kind {
    Cell,    // the address of a function's cell
    Address, // the address that stands for a function wherever it is not called: its public stub's
    Data,    // the address of a variable in the memory of data()
  };

  std::string symbol; // such as "lazy cell.0"
  Kind kind;
  std::string name; // of the function or variable in the whole module
};

struct Part {
  std::string bitcode;
  std::vector<Link> links;
};

/// The name of the function in the module that extract() and publicStub() make.
inline constexpr char kFunction[] = "lazy function";

/// A module whose functions are compiled one by one.
///
/// A function's part has the function under the name kFunction, and what goes with it:
///  - functions that it calls, as stubs (stub.h) linked to their cells, numbered in the order in
///    which it refers to them, so that functions which are equal but for names have equal parts;
///  - functions that cannot be called through a stub (those to be inlined always, and those that
///    return twice), as copies;
///  - constants whose address does not count (unnamed_addr), as copies;
///  - other constants and variables as declarations. They are in data(), once for all parts; the
///    constants' contents are given, too, for the optimiser.
///
/// Any number of threads may use one; they take turns.
class Split {
public:
  struct Function {
    std::string name;
    std::string type; // of the function and its convention, as LLVM writes them
    bool isDefined;
    bool isPublic; // visible outside of the module
  };

  /// Read LLVM IR text or bitcode. Debug info is dropped.
  static Outcome<std::shared_ptr<Split>> parse(llvm::StringRef source, llvm::StringRef name);

  /// All functions but intrinsics, in the module's order.
  std::vector<Function> functions();

  /// Names of the functions that the module declares, and whose part needs them, in the order in
  /// which it refers to them.
  Outcome<std::vector<std::string>> outside(llvm::StringRef name);

  /// Make a function's part. `lazy` names the functions that the module declares and that are to be
  /// called through stubs; all that it defines are.
  Outcome<Part> extract(llvm::StringRef name, llvm::ArrayRef<std::string> lazy);

  /// Make a part whose kFunction is a function's stub, with an address that can be given away.
  Outcome<Part> publicStub(llvm::StringRef name);

  /// Make the part that has all variables and constants with an address that counts, as
  /// dataSymbol(0) and so on; `names` is told those in the module, in that order.
  Outcome<Part> data(llvm::ArrayRef<std::string> lazy, std::vector<std::string> &names);

private:
  explicit Split(std::shared_ptr<llvmir::OwnModule> module) : module(std::move(module)) {}

  std::shared_ptr<llvmir::OwnModule> module;
};

std::string dataSymbol(size_t index);

} // namespace twinjit::lazy
