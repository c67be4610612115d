#include "ir/identity_memo.h"

#include "mlir/IR/AsmState.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinDialect.h"
#include "mlir/IR/DialectResourceBlobManager.h"

#include <mutex>

namespace twinjit {
namespace {

using Memos = llvm::DenseMap<mlir::MLIRContext *, std::shared_ptr<DigestMemo>>;

/// Guards `memos`. Held for a look-up, an insertion or a removal only: memos are destroyed, and a
/// context's blob manager (which has its own lock) is used, outside it.
std::mutex memosMutex;

/// Never destroyed: contexts may outlive static destructors.
Memos &memos() {
  static auto *map = new Memos();
  return *map;
}

void forget(mlir::MLIRContext *context, const DigestMemo *memo) {
  std::shared_ptr<DigestMemo> last; // destroyed after the lock is released
  std::lock_guard<std::mutex> lock(memosMutex);
  auto found = memos().find(context);
  if (found == memos().end() || found->second.get() != memo)
    return;
  last = std::move(found->second);
  memos().erase(found);
}

/// Tie `memo` to the life of `context`. Of what a context owns, the builtin dialect's resources are
/// the one place that takes a destructor of ours at any time, from any thread, also while passes
/// run. The entry has no data, and nothing prints or writes a resource that no attribute refers to.
void forgetWith(mlir::MLIRContext *context, const DigestMemo *memo) {
  mlir::AsmResourceBlob hook(
      llvm::ArrayRef<char>(), /*dataAlignment=*/1,
      [context, memo](void *, size_t, size_t) { forget(context, memo); },
      /*dataIsMutable=*/false);
  mlir::DenseResourceElementsHandle::getManagerInterface(context).insert(kMemoResource,
                                                                         std::move(hook));
}

} // namespace

std::shared_ptr<DigestMemo> DigestMemo::of(mlir::MLIRContext *context) {
  std::shared_ptr<DigestMemo> memo;
  {
    std::lock_guard<std::mutex> lock(memosMutex);
    std::shared_ptr<DigestMemo> &known = memos()[context];
    if (known)
      return known;
    memo = known = std::make_shared<DigestMemo>();
  }
  forgetWith(context, memo.get());
  return memo;
}

size_t DigestMemo::bytesOf(mlir::MLIRContext *context) {
  std::shared_ptr<DigestMemo> memo;
  {
    std::lock_guard<std::mutex> lock(memosMutex);
    memo = memos().lookup(context);
  }
  if (!memo)
    return 0;
  std::shared_lock<std::shared_mutex> lock(memo->mutex);
  return memo->entries.getMemorySize();
}

} // namespace twinjit
