#include "ir/lift.h"

#include "ir/constants.h"
#include "ir/symbols.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

#include "llvm/Support/raw_ostream.h"

namespace twinjit {
namespace {

LiftedConstant describe(mlir::Operation *operation, const LargeConstant &constant,
                        std::string name) {
  LiftedConstant lifted;
  lifted.name = std::move(name);
  llvm::raw_string_ostream(lifted.type) << constant.elements.getType();
  lifted.size = constant.size;
  lifted.alignment = alignmentOf(operation);
  if (auto function = operation->getParentOfType<mlir::FunctionOpInterface>())
    lifted.place = "@" + function.getName().str();
  return lifted;
}

/// Without a value it is defined elsewhere; the linker looks for what is public only.
void makeExternal(mlir::memref::GlobalOp global, uint64_t alignment) {
  global.removeInitialValueAttr();
  global.removeSymVisibilityAttr();
  global.setAlignment(alignment);
}

/// Replace a constant tensor by the read of a variable, which is added to the end of `variables`.
void readVariable(mlir::arith::ConstantOp constant, const LiftedConstant &lifted) {
  auto tensor = llvm::cast<mlir::RankedTensorType>(constant.getType());
  auto memref = mlir::MemRefType::get(tensor.getShape(), tensor.getElementType());
  mlir::Operation *table = mlir::SymbolTable::getNearestSymbolTable(constant);
  auto builder = mlir::OpBuilder::atBlockBegin(&table->getRegion(0).front());
  mlir::Location loc = constant.getLoc();
  mlir::memref::GlobalOp::create(builder, loc, lifted.name, /*sym_visibility=*/mlir::StringAttr(),
                                 memref, /*initial_value=*/mlir::Attribute(), /*constant=*/true,
                                 builder.getI64IntegerAttr(lifted.alignment));
  builder.setInsertionPoint(constant);
  mlir::Value buffer = mlir::memref::GetGlobalOp::create(builder, loc, memref, lifted.name);
  mlir::Value value = mlir::bufferization::ToTensorOp::create(builder, loc, tensor, buffer,
                                                              /*restrict=*/true);
  constant.getResult().replaceAllUsesWith(value);
  constant.erase();
}

} // namespace

std::vector<LiftedConstant> lift(llvm::ArrayRef<mlir::Operation *> constants, const Policy &policy,
                                 llvm::StringRef prefix) {
  std::vector<LiftedConstant> lifted;
  for (auto [number, operation] : llvm::enumerate(constants))
    lifted.push_back(describe(operation, *largeConstant(operation, policy),
                              (prefix + llvm::Twine(number)).str()));
  for (size_t i = constants.size(); i-- != 0;) { // each goes before the last
    if (auto global = llvm::dyn_cast<mlir::memref::GlobalOp>(constants[i]))
      makeExternal(global, lifted[i].alignment);
    else
      readVariable(llvm::cast<mlir::arith::ConstantOp>(constants[i]), lifted[i]);
  }
  return lifted;
}

} // namespace twinjit
