#include "library/library.h"

#include "codegen/retarget.h"

#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/TargetParser/Triple.h"

#include <algorithm>

namespace twinjit::library {

/// A context of the library's, for one piece of work.
class Lease {
public:
  explicit Lease(Library &library) : library(library) {
    std::lock_guard<std::mutex> lock(library.mutex);
    if (library.idle.empty())
      return;
    loaded = std::move(library.idle.back()); // the last one used: others may be dropped by and by
    library.idle.pop_back();
  }
  ~Lease() {
    std::unique_ptr<LoadedModules> spent;
    {
      std::lock_guard<std::mutex> lock(library.mutex);
      if (!library.spent.empty()) {
        spent = std::move(library.spent.back());
        library.spent.pop_back();
      }
      if (loaded) {
        bool isSpent = loaded->programBytes() > library.contextBytes;
        (isSpent ? library.spent : library.idle).push_back(std::move(loaded));
      }
    }
    // All at once would take a tenth of a second. The next work reads what it needs anew.
    if (!spent || !spent->shrink())
      return;
    std::lock_guard<std::mutex> lock(library.mutex);
    library.spent.push_back(std::move(spent));
  }
  Lease(const Lease &) = delete;
  Lease &operator=(const Lease &) = delete;

  LoadedModules &operator*() {
    if (!loaded)
      loaded = std::make_unique<LoadedModules>(library.files);
    return *loaded;
  }

private:
  Library &library;
  std::unique_ptr<LoadedModules> loaded;
};

namespace {

std::unique_ptr<Facts> toFacts(const Plan &plan, llvm::StringRef file) {
  auto facts = std::make_unique<Facts>();
  facts->file = file.str();
  facts->isFunction = llvm::isa<llvm::Function>(plan.root);
  facts->instructions = plan.instructions;
  facts->constantBytes = plan.constantBytes;
  facts->locals = static_cast<unsigned>(plan.functions.size() + plan.variables.size()) - 1;
  facts->obstacles = plan.obstacles;
  for (const llvm::GlobalValue *external : plan.externals) {
    const auto *function = llvm::dyn_cast<llvm::Function>(external);
    if (function && function->isIntrinsic())
      continue;
    bool isCode = external->getValueType()->isFunctionTy();
    (isCode ? facts->callees : facts->variables).push_back(external->getName().str());
  }
  return facts;
}

std::vector<std::string> sorted(std::vector<std::string> names) {
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

/// Those of the names that a program uses and does not define, sorted.
std::vector<std::string> declaredIn(const llvm::Module &program,
                                    const std::vector<std::string> &names) {
  std::vector<std::string> declared;
  for (const std::string &name : names) {
    const llvm::GlobalValue *value = program.getNamedValue(name);
    if (value && value->isDeclaration() && !value->use_empty())
      declared.push_back(name);
  }
  return sorted(std::move(declared));
}

std::optional<Failure> whyForeign(const llvm::Module &module, const std::string &triple) {
  if (triple.empty())
    return std::nullopt;
  const llvm::Triple &own = module.getTargetTriple();
  llvm::Triple wanted(triple);
  std::string name = module.getModuleIdentifier(), what;
  std::string layout = wanted.computeDataLayout();
  if (!own.str().empty() && (own.getArch() != wanted.getArch() || own.getOS() != wanted.getOS()))
    what = "is for '" + own.str() + "', and the program for '" + triple + "'";
  else if (!module.getDataLayoutStr().empty() &&
           !isAlike(module.getDataLayout(), llvm::DataLayout(layout)))
    what = "has the data layout '" + module.getDataLayoutStr() + "', and '" + triple + "' '" +
           layout + "'";
  if (what.empty())
    return std::nullopt;
  return Failure{Kind::Library, name + " " + what + "; compile the library for that target"};
}

} // namespace

Outcome<const Plan *> Library::planOf(llvm::StringRef name, LoadedModules &loaded) {
  auto file = index.fileOf(name);
  if (!file)
    return file.failure();
  return *file ? loaded.plan(**file, name) : static_cast<const Plan *>(nullptr);
}

Outcome<const Facts *> Library::factsOf(const std::string &name, LoadedModules &loaded) {
  {
    std::lock_guard<std::mutex> lock(mutex);
    auto known = facts.find(name);
    if (known != facts.end())
      return static_cast<const Facts *>(known->second.get());
  }
  auto plan = planOf(name, loaded);
  if (!plan)
    return plan.failure();
  std::unique_ptr<Facts> found;
  if (*plan)
    found = toFacts(**plan, files.name(**index.fileOf(name)));
  std::lock_guard<std::mutex> lock(mutex);
  return static_cast<const Facts *>(facts.try_emplace(name, std::move(found)).first->second.get());
}

Outcome<std::vector<Decision>> Library::decideOn(const std::vector<std::string> &names,
                                                 LoadedModules &loaded) {
  return decide(names, policy, [&](const std::string &name) { return factsOf(name, loaded); });
}

Outcome<std::vector<Decision>> Library::explain(const std::vector<std::string> &names) {
  Lease lease(*this);
  return decideOn(names, *lease);
}

/// Of a unit: what it looks like alone in a program, without what it was beside in its own module.
Outcome<Digest> Library::digestOf(const std::string &name, LoadedModules &loaded) {
  {
    std::lock_guard<std::mutex> lock(mutex);
    auto known = digests.find(name);
    if (known != digests.end())
      return known->second;
  }
  auto plan = planOf(name, loaded);
  if (!plan)
    return plan.failure();
  llvm::Module alone("", loaded.getContext());
  Transplant transplant(alone, Linkage::Provided);
  transplant.add(**plan);
  transplant.finish();
  FieldHasher hasher;
  hasher.string((*plan)->root->getParent()->getTargetTriple().str());
  std::string text;
  llvm::raw_string_ostream stream(text);
  alone.print(stream, nullptr);
  hasher.string(text);
  std::lock_guard<std::mutex> lock(mutex);
  return digests.try_emplace(name, hasher.finish()).first->second;
}

Outcome<std::optional<Digest>> Library::rootDigest(const std::string &name, LoadedModules &loaded) {
  {
    std::lock_guard<std::mutex> lock(mutex);
    auto known = roots.find(name);
    if (known != roots.end())
      return known->second;
  }
  auto decisions = decideOn({name}, loaded);
  if (!decisions)
    return decisions.failure();
  if (!policy)
    if (auto failure = whyNotCopied(*decisions))
      return std::move(*failure);
  FieldHasher hasher;
  for (const Decision &decision : *decisions) {
    if (!decision.obstacle.empty())
      continue;
    auto digest = digestOf(decision.name, loaded);
    if (!digest)
      return digest.failure();
    hasher.string(decision.name);
    hasher.digest(*digest);
  }
  std::optional<Digest> result;
  if (decisions->front().facts)
    result = hasher.finish();
  std::lock_guard<std::mutex> lock(mutex);
  return roots.try_emplace(name, result).first->second;
}

Outcome<std::optional<Digest>> Library::digest(const std::vector<std::string> &names) {
  Lease lease(*this);
  FieldHasher hasher;
  bool isAny = false;
  for (const std::string &name : sorted(names)) {
    auto digest = rootDigest(name, *lease);
    if (!digest)
      return digest.failure();
    if (!*digest)
      continue;
    isAny = true;
    hasher.string(name);
    hasher.digest(**digest);
  }
  return isAny ? std::optional<Digest>(hasher.finish()) : std::nullopt;
}

Outcome<std::vector<std::string>> Library::externals(const std::vector<std::string> &names) {
  auto decisions = explain(names);
  if (!decisions)
    return decisions.failure();
  std::set<std::string> found;
  for (const Decision &decision : *decisions) {
    if (!decision.obstacle.empty())
      continue;
    found.insert(decision.facts->callees.begin(), decision.facts->callees.end());
    found.insert(decision.facts->variables.begin(), decision.facts->variables.end());
  }
  for (const Decision &decision : *decisions)
    if (decision.facts)
      found.erase(decision.name);
  for (auto name = found.begin();
       name != found.end();) // what Python has no names for, nor programs
    name = llvm::json::isUTF8(*name) ? std::next(name) : found.erase(name);
  return std::vector<std::string>(found.begin(), found.end());
}

Outcome<Imported> Library::importInto(llvm::StringRef bitcode,
                                      const std::vector<std::string> &names,
                                      const std::string &triple,
                                      const std::vector<std::string> &imported) {
  Lease lease(*this);
  auto program = (*lease).readProgram(bitcode);
  if (!program)
    return program.failure();
  auto decisions = decideOn(declaredIn(**program, names), *lease);
  if (!decisions)
    return decisions.failure();
  if (!policy)
    if (auto failure = whyNotCopied(*decisions))
      return std::move(*failure);
  Imported result;
  Transplant transplant(**program, policy ? Linkage::Provided : Linkage::Copied, imported);
  for (const Decision &decision : *decisions) {
    if (!decision.obstacle.empty())
      continue;
    auto plan = planOf(decision.name, *lease);
    if (!plan)
      return plan.failure();
    if (auto failure = whyForeign(*(*plan)->root->getParent(), triple))
      return std::move(*failure);
    if (transplant.add(**plan))
      (decision.facts->isFunction ? result.functions : result.variables).push_back(decision.name);
  }
  transplant.finish();
  llvm::raw_string_ostream stream(result.bitcode);
  llvm::WriteBitcodeToFile(**program, stream);
  return result;
}

Outcome<size_t> Library::openAll() {
  Lease lease(*this);
  for (uint32_t file = 0; file != files.size(); ++file)
    if (auto module = (*lease).open(file); !module)
      return module.failure();
  return files.size();
}

Outcome<std::vector<std::pair<std::string, Digest>>> Library::moduleDigests() {
  std::lock_guard<std::mutex> lock(mutex); // for long, unlike all else
  std::vector<std::pair<std::string, Digest>> digests;
  for (const auto &loaded : idle)
    for (const auto &module : loaded->all()) {
      if (!module)
        continue;
      for (llvm::Function &function : *module)
        if (llvm::Error error = function.materialize())
          return Failure{Kind::Library, llvm::toString(std::move(error))};
      std::string text;
      llvm::raw_string_ostream stream(text);
      module->print(stream, nullptr);
      FieldHasher hasher;
      hasher.string(text);
      digests.emplace_back(module->getModuleIdentifier(), hasher.finish());
    }
  return digests;
}

} // namespace twinjit::library
