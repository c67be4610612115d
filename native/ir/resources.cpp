#include "ir/resources.h"

#include "ir/identity_memo.h"
#include "ir/operation_attributes.h"

#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinDialect.h"
#include "mlir/IR/DialectResourceBlobManager.h"

#include <map>

namespace twinjit {
namespace {

using Resource = mlir::DenseResourceElementsHandle;
using Resources = mlir::DialectResourceBlobManager;

/// The context's own may have keys like ours already, so that ours are in a table beside it.
std::shared_ptr<Resources> makeTable(mlir::MLIRContext *context) {
  auto table = std::make_shared<Resources>();
  auto release = [table](void *, size_t, size_t) mutable { table.reset(); };
  mlir::AsmResourceBlob hook({}, /*dataAlignment=*/1, release, /*dataIsMutable=*/false);
  Resource::getManagerInterface(context).insert("twinjit.resources", std::move(hook));
  return table;
}

class ResourceNames {
public:
  explicit ResourceNames(mlir::MLIRContext *context) : table(makeTable(context)) {}

  /// The resource of the same bytes by its new key; itself if it has none.
  Resource of(Resource old) {
    const mlir::AsmResourceBlob *blob = old.getBlob();
    if (!blob)
      return old;
    llvm::ArrayRef<char> data = blob->getData();
    Content content(blob->getDataAlignment(), llvm::StringRef(data.data(), data.size()));
    if (auto known = named.find(content); known != named.end())
      return known->second;
    auto *dialect = llvm::cast<mlir::BuiltinDialect>(old.getDialect());
    // The old one goes on owning the data; both live as long as the context.
    auto same = table->insert<Resource>(
        dialect, "resource." + std::to_string(named.size()),
        mlir::UnmanagedAsmResourceBlob::allocateWithAlign(data, blob->getDataAlignment()));
    named.emplace(content, same);
    return same;
  }

private:
  using Content = std::pair<size_t, llvm::StringRef>; // alignment, bytes

  std::shared_ptr<Resources> table;
  std::map<Content, Resource> named;
};

} // namespace

bool hasResources(mlir::MLIRContext *context) {
  auto *builtin = context->getLoadedDialect<mlir::BuiltinDialect>();
  auto *resources = builtin->getRegisteredInterface<mlir::ResourceBlobManagerDialectInterface>();
  bool any = false;
  if (resources)
    resources->getBlobManager().getBlobMap([&](const auto &blobs) {
      for (const auto &entry : blobs)
        any |= entry.getKey() != kMemoResource;
    });
  return any;
}

std::optional<Failure> renameResources(mlir::ModuleOp module) {
  if (!hasResources(module.getContext()))
    return std::nullopt;
  ResourceNames names(module.getContext());
  mlir::AttrTypeReplacer replacer;
  replacer.addReplacement([&](mlir::DenseResourceElementsAttr elements) {
    // An encoding may have a resource in it.
    auto type = llvm::cast<mlir::ShapedType>(replacer.replace(mlir::Type(elements.getType())));
    mlir::Attribute renamed =
        mlir::DenseResourceElementsAttr::get(type, names.of(elements.getRawHandle()));
    return std::make_pair(renamed, mlir::WalkResult::skip());
  });
  std::optional<Failure> failure;
  module->walk<mlir::WalkOrder::PreOrder>([&](mlir::Operation *operation) {
    if (auto refused = replaceIn(*operation, replacer))
      failure = std::move(refused);
    for (mlir::Region &region : operation->getRegions())
      for (mlir::Block &block : region)
        replaceIn(block, replacer);
  });
  return failure;
}

} // namespace twinjit
