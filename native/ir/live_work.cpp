#include "ir/live_work.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"

#include <pthread.h>

#include <map>
#include <mutex>
#include <set>

namespace twinjit {
namespace {

/// Work in one context.
struct InContext {
  std::multiset<mlir::Operation *> read;
  std::set<mlir::Operation *> changed;
  unsigned works = 0;
  unsigned changes = 0;
  unsigned nesting = 0; // of the changes, those over isolated operations in isolated ones
};

/// Guards `contexts` and `turns`. Held while a program is walked, with the GIL, too.
std::mutex liveMutex;

/// What is known of contexts, one for each type. Never destroyed: threads may outlive static
/// destructors. Empty in forked children, where the threads that worked or waited are not.
template <typename Known> std::map<mlir::MLIRContext *, Known> &byContext() {
  static auto *all = [] {
    static auto *made = new std::map<mlir::MLIRContext *, Known>();
    pthread_atfork(nullptr, nullptr, [] { made->clear(); });
    return made;
  }();
  return *all;
}

/// Contexts with work in them.
auto &contexts() { return byContext<InContext>(); }

/// Who waits in which context, the first first.
auto &turns() { return byContext<std::vector<const LiveTurn *>>(); }

/// What a walk over a program finds.
struct Found {
  bool isChanged = false; // something in it, by other work
  bool isRead = false;
  bool nests = false;
  std::vector<mlir::Operation *> modules; // the root first
};

/// Does not enter what other work changes; around that, nothing moves.
Found look(mlir::Operation *root, const InContext &others) {
  Found found;
  root->walk<mlir::WalkOrder::PreOrder>([&](mlir::Operation *operation) {
    if (others.changed.count(operation)) {
      found.isChanged = true;
      return mlir::WalkResult::interrupt();
    }
    found.isRead |= others.read.count(operation) != 0;
    if (operation == root || llvm::isa<mlir::ModuleOp>(operation))
      found.modules.push_back(operation);
    if (operation != root && operation->hasTrait<mlir::OpTrait::IsIsolatedFromAbove>())
      found.nests |= operation->getParentOp() != root;
    return mlir::WalkResult::advance();
  });
  return found;
}

Failure inUse(const char *why) {
  return Failure{Kind::Context, std::string("the program is in use: ") + why +
                                    "; wait for that, or give each thread a module of its own"};
}

} // namespace

Outcome<LiveWork> LiveWork::begin(mlir::Operation *root, Use use) {
  std::lock_guard<std::mutex> lock(liveMutex);
  InContext &context = contexts()[root->getContext()];
  Found found;
  if (use == Use::Change || !context.changed.empty())
    found = look(root, context);
  bool isRefused = found.isChanged || (found.isRead && use == Use::Change);
  if (isRefused && context.works == 0)
    contexts().erase(root->getContext());
  if (found.isChanged)
    return inUse("another thread runs passes over it, over a module that it is in, or over one "
                 "that is in it");
  if (isRefused)
    return inUse("another thread compiles, compares or fingerprints it or a part of it");
  ++context.works;
  if (use == Use::Read) {
    context.read.insert(root);
    return LiveWork(use, {root}, false);
  }
  ++context.changes;
  context.nesting += found.nests;
  context.changed.insert(found.modules.begin(), found.modules.end());
  return LiveWork(use, std::move(found.modules), found.nests);
}

LiveWork::~LiveWork() {
  if (operations.empty())
    return; // moved from
  std::lock_guard<std::mutex> lock(liveMutex);
  auto place = contexts().find(context);
  if (place == contexts().end())
    return; // forked meanwhile
  InContext &work = place->second;
  if (use == Use::Read) {
    work.read.erase(work.read.find(operations.front()));
  } else {
    for (mlir::Operation *operation : operations)
      work.changed.erase(operation);
    --work.changes;
    work.nesting -= nests;
  }
  if (--work.works == 0)
    contexts().erase(place);
}

bool LiveWork::isAlone() const {
  std::lock_guard<std::mutex> lock(liveMutex);
  return contexts()[context].works == 1;
}

bool LiveWork::isSharing() const {
  std::lock_guard<std::mutex> lock(liveMutex);
  const InContext &work = contexts()[context];
  return work.changes == 1 || work.nesting == 0;
}

LiveTurn::LiveTurn(mlir::MLIRContext *context) : context(context) {
  std::lock_guard<std::mutex> lock(liveMutex);
  turns()[context].push_back(this);
}

LiveTurn::~LiveTurn() {
  std::lock_guard<std::mutex> lock(liveMutex);
  auto place = turns().find(context);
  if (place == turns().end())
    return; // forked meanwhile
  llvm::erase(place->second, this);
  if (place->second.empty())
    turns().erase(place);
}

bool LiveTurn::isNext(mlir::MLIRContext *context, const LiveTurn *turn) {
  std::lock_guard<std::mutex> lock(liveMutex);
  auto place = turns().find(context);
  return place == turns().end() || place->second.front() == turn;
}

} // namespace twinjit
