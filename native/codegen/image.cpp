// JITLink is used without ORC's sessions and dylibs: an artifact is one self-contained object, so
// linking is a graph, one allocation, and a symbol table. Unloading is then one deallocation: there
// is no session, resource tracker or symbol pool that could grow over a process's life.
#include "codegen/image.h"

#include "codegen/runtime.h"

#include "llvm/ExecutionEngine/JITLink/JITLink.h"

#include <optional>

namespace twinjit {

namespace jl = llvm::jitlink;
namespace orc = llvm::orc;

/// One run of JITLink. JITLink owns and deletes it; what it leaves behind is in `result`.
class Link : public jl::JITLinkContext {
public:
  struct Result {
    std::shared_ptr<Image> image;
    std::optional<Failure> failure;
  };

  Link(const LinkOptions &options, Result &result)
      : JITLinkContext(nullptr), options(options), result(result) {}

  jl::JITLinkMemoryManager &getMemoryManager() override { return CodeMemory::instance(); }

  void notifyFailed(llvm::Error error) override {
    bool isMemory = error.isA<llvm::ECError>();
    std::string text = llvm::toString(std::move(error));
    if (!result.failure)
      result.failure =
          isMemory ? noMemory(text) : Failure{Kind::Load, "cannot link the object code: " + text};
  }

  void lookup(const LookupMap &symbols,
              std::unique_ptr<jl::JITLinkAsyncLookupContinuation> continuation) override {
    jl::AsyncLookupResult found;
    std::vector<std::string> missing;
    for (const auto &[name, flags] : symbols) {
      bool isGiven = options.given && options.given->contains(*name);
      if (!isGiven && (*name == kAssertionFailed || *name == kAllocate || *name == kResolve))
        result.image->fails = true;
      void *address = find(*name);
      if (!address && flags == jl::SymbolLookupFlags::RequiredSymbol)
        missing.push_back((*name).str());
      found[name] = {orc::ExecutorAddr::fromPtr(address), llvm::JITSymbolFlags::Exported};
    }
    if (missing.empty())
      return continuation->run(std::move(found));
    result.failure = unresolved(std::move(missing));
    continuation->run(llvm::createStringError("unresolved symbols"));
  }

  llvm::Error notifyResolved(jl::LinkGraph &graph) override {
    Image &image = *result.image;
    for (const auto *names : {&options.entries, &options.exports})
      for (const std::string &name : *names)
        image.entries[name] = nullptr;
    for (jl::Symbol *symbol : graph.defined_symbols())
      if (symbol->hasName())
        if (auto it = image.entries.find(*symbol->getName()); it != image.entries.end())
          it->second = symbol->getAddress().toPtr<void *>();
    for (const std::string &entry : options.entries)
      if (!image.entries.lookup(entry))
        return llvm::createStringError("the object does not define '" + entry + "'");
    image.announcement = Announcement::prepare(graph);
    return llvm::Error::success();
  }

  void notifyFinalized(jl::JITLinkMemoryManager::FinalizedAlloc memory) override {
    result.image->memory = std::move(memory);
  }

  jl::LinkGraphPassFunction getMarkLivePass(const llvm::Triple &) const override {
    return jl::markAllSymbolsLive;
  }

private:
  void *find(llvm::StringRef name) const {
    if (options.given)
      if (auto it = options.given->find(name); it != options.given->end())
        return it->second;
    if (void *address = result.image->constants.address(name))
      return address;
    return findSymbol(name.str());
  }

  static Failure unresolved(std::vector<std::string> names) {
    std::sort(names.begin(), names.end());
    std::string list;
    for (const std::string &name : names)
      list += (list.empty() ? "'" : ", '") + name + "'";
    return Failure{Kind::Symbol,
                   "nothing in this process defines " + list +
                       "; define it in the program or in one of its libraries (libraries=), give "
                       "its address (symbols=), or load the shared library that has it with "
                       "ctypes.CDLL(path, ctypes.RTLD_GLOBAL) first"};
  }

  const LinkOptions &options;
  Result &result;
};

Image::~Image() {
  announcement.reset();
  if (memory)
    // Only what a plugin of JITLink left to be done at the end could fail.
    llvm::consumeError(CodeMemory::instance().deallocate(std::move(memory)));
}

void *Image::address(llvm::StringRef name) const { return entries.lookup(name); }

bool Image::contains(const void *pointer) const {
  return CodeMemory::pagesOf(memory).contains(pointer) || constants.contains(pointer);
}

size_t Image::size() const { return CodeMemory::pagesOf(memory).size() + constants.size(); }

Outcome<std::shared_ptr<Image>> load(llvm::StringRef object, const LinkOptions &options) {
  // The graph refers to both buffers and to the pool until link() returns.
  auto pool = std::make_shared<orc::SymbolStringPool>();
  auto graph = jl::createLinkGraphFromObject(llvm::MemoryBufferRef(object, "artifact"), pool);
  if (!graph)
    return Failure{Kind::Load, "cannot read the object code: " + llvm::toString(graph.takeError())};
  Link::Result result;
  result.image = std::shared_ptr<Image>(new Image());
  auto copies = ConstantMemory::copy(options.constants);
  if (!copies)
    return copies.failure();
  result.image->constants = std::move(*copies);
  // Our memory manager finishes its work before it returns, so link() is synchronous.
  jl::link(std::move(*graph), std::make_unique<Link>(options, result));
  if (result.failure)
    return std::move(*result.failure);
  if (result.image->announcement)
    result.image->announcement->publish(object, options.digest);
  return result.image;
}

} // namespace twinjit
