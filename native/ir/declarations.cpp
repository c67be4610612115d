#include "ir/declarations.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

#include "llvm/Support/JSON.h"

namespace twinjit {

std::vector<std::string> declaredFunctions(mlir::ModuleOp module) {
  std::vector<std::string> names;
  for (auto function : module.getOps<mlir::FunctionOpInterface>()) {
    std::string name = function.getName().str();
    if (!function.isExternal() || !llvm::json::isUTF8(name))
      continue;
    if (function->hasAttr(mlir::LLVM::LLVMDialect::getEmitCWrapperAttrName()))
      names.push_back("_mlir_ciface_" + name); // how the lowered code calls it
    names.push_back(std::move(name));
  }
  return names;
}

} // namespace twinjit
