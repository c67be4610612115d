// Bitcode whose functions can become part of programs.
#pragma once

#include "library/bitcode_files.h"
#include "library/decision.h"
#include "library/loaded_modules.h"
#include "library/transplant.h"

#include "llvm/ADT/StringMap.h"

#include <memory>
#include <mutex>
#include <optional>
#include <set>

namespace twinjit::library {

struct Imported {
  std::string bitcode;
  std::vector<std::string> functions; // that the program asked for or they call
  std::vector<std::string> variables; // that these use, and other libraries' functions may
};

/// Any number of threads may use one. Each piece of work has a context to itself, in which the
/// library's modules are parsed as they are needed; contexts are kept for the next, and dropped
/// where programs have left too much in them.
class Library {
public:
  /// With a policy, the process defines the library's functions. `contextBytes` of programs are
  /// read in a context before it is dropped.
  Library(BitcodeFiles files, NameIndex index, std::optional<ImportPolicy> policy,
          size_t contextBytes)
      : files(std::move(files)), index(std::move(index)), policy(policy),
        contextBytes(contextBytes) {}

  const BitcodeFiles &bitcode() const { return files; }
  /// Which file defines a name. Fails with Kind::Library.
  Outcome<std::optional<uint32_t>> fileOf(llvm::StringRef name) const { return index.fileOf(name); }

  /// Read the symbols of all modules in one context, which takes longer than what is needed; return
  /// how many there are.
  Outcome<size_t> openAll();

  /// Decide on functions; all fail with Kind::Library.
  Outcome<std::vector<Decision>> explain(const std::vector<std::string> &names);

  /// Digest of all that can be imported for these names, the same in whatever order they come; null
  /// where the library defines none of them.
  Outcome<std::optional<Digest>> digest(const std::vector<std::string> &names);

  /// Names that the program would declare once these functions were imported.
  Outcome<std::vector<std::string>> externals(const std::vector<std::string> &names);

  /// Import functions into a program for the machine of `triple`, which has got what `imported`
  /// names of other libraries.
  Outcome<Imported> importInto(llvm::StringRef bitcode, const std::vector<std::string> &names,
                               const std::string &triple, const std::vector<std::string> &imported);

  /// Read the modules of all contexts that nobody uses now in full; give their names, and digests
  /// of them as text. Fails with Kind::Library.
  Outcome<std::vector<std::pair<std::string, Digest>>> moduleDigests();

private:
  friend class Lease;
  Outcome<std::vector<Decision>> decideOn(const std::vector<std::string> &names,
                                          LoadedModules &loaded);
  Outcome<const Facts *> factsOf(const std::string &name, LoadedModules &loaded);
  Outcome<const Plan *> planOf(llvm::StringRef name, LoadedModules &loaded);
  Outcome<Digest> digestOf(const std::string &name, LoadedModules &loaded);
  Outcome<std::optional<Digest>> rootDigest(const std::string &name, LoadedModules &loaded);

  const BitcodeFiles files;
  const NameIndex index;
  const std::optional<ImportPolicy> policy;
  const size_t contextBytes;

  /// Guards what follows. Nothing is read from bitcode meanwhile.
  std::mutex mutex;
  std::vector<std::unique_ptr<LoadedModules>> idle;
  std::vector<std::unique_ptr<LoadedModules>> spent; // dropped bit by bit, as others are used
  llvm::StringMap<std::unique_ptr<Facts>> facts;     // by name; null where it is not defined
  llvm::StringMap<Digest> digests;                   // of units, by name
  llvm::StringMap<std::optional<Digest>> roots;      // of all that a name leads to
};

} // namespace twinjit::library
