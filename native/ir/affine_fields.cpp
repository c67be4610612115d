#include "ir/affine_fields.h"

#include "llvm/ADT/DenseMap.h"

namespace twinjit {
namespace {

/// Writes affine expressions, which share subexpressions: each is written once, after its operands,
/// and then referred to by its number.
class AffineFields {
public:
  explicit AffineFields(FieldHasher &fields) : fields(fields) {}

  void write(llvm::ArrayRef<mlir::AffineExpr> expressions) {
    llvm::SmallVector<uint64_t> roots;
    for (mlir::AffineExpr expression : expressions)
      roots.push_back(add(expression));
    fields.tag(kRoots);
    fields.number(roots.size());
    for (uint64_t root : roots)
      fields.number(root);
  }

private:
  enum Kind : uint8_t {
    kRoots = 0,
    kAdd = 1,
    kMul = 2,
    kMod = 3,
    kFloorDiv = 4,
    kCeilDiv = 5,
    kConstant = 6,
    kDim = 7,
    kSymbol = 8,
  };

  static Kind kindOf(mlir::AffineExpr expression) {
    switch (expression.getKind()) {
    case mlir::AffineExprKind::Add:
      return kAdd;
    case mlir::AffineExprKind::Mul:
      return kMul;
    case mlir::AffineExprKind::Mod:
      return kMod;
    case mlir::AffineExprKind::FloorDiv:
      return kFloorDiv;
    case mlir::AffineExprKind::CeilDiv:
      return kCeilDiv;
    case mlir::AffineExprKind::Constant:
      return kConstant;
    case mlir::AffineExprKind::DimId:
      return kDim;
    case mlir::AffineExprKind::SymbolId:
      return kSymbol;
    }
    llvm_unreachable("an affine expression of no kind");
  }

  /// By hand: expressions may be nested deeper than a stack is.
  uint64_t add(mlir::AffineExpr root) {
    llvm::SmallVector<mlir::AffineExpr> pending = {root};
    while (!pending.empty()) {
      mlir::AffineExpr expression = pending.back();
      auto binary = llvm::dyn_cast<mlir::AffineBinaryOpExpr>(expression);
      if (numbers.contains(expression)) {
        pending.pop_back();
      } else if (binary && !numbers.contains(binary.getLHS())) {
        pending.push_back(binary.getLHS());
      } else if (binary && !numbers.contains(binary.getRHS())) {
        pending.push_back(binary.getRHS());
      } else {
        writeOne(expression);
        pending.pop_back();
      }
    }
    return numbers.lookup(root);
  }

  void writeOne(mlir::AffineExpr expression) {
    uint64_t first = 0, second = 0;
    if (auto binary = llvm::dyn_cast<mlir::AffineBinaryOpExpr>(expression)) {
      first = numbers.lookup(binary.getLHS());
      second = numbers.lookup(binary.getRHS());
    } else if (auto constant = llvm::dyn_cast<mlir::AffineConstantExpr>(expression)) {
      first = static_cast<uint64_t>(constant.getValue());
    } else if (auto dim = llvm::dyn_cast<mlir::AffineDimExpr>(expression)) {
      first = dim.getPosition();
    } else {
      first = llvm::cast<mlir::AffineSymbolExpr>(expression).getPosition();
    }
    fields.tag(kindOf(expression));
    fields.number(first);
    fields.number(second);
    numbers.try_emplace(expression, numbers.size());
  }

  FieldHasher &fields;
  llvm::DenseMap<mlir::AffineExpr, uint64_t> numbers;
};

} // namespace

void affine(FieldHasher &fields, mlir::IntegerSet set) {
  fields.number(set.getNumDims());
  fields.number(set.getNumSymbols());
  AffineFields(fields).write(set.getConstraints());
  for (bool isEquality : set.getEqFlags())
    fields.tag(isEquality);
}

void affine(FieldHasher &fields, mlir::AffineMap map) {
  fields.number(map.getNumDims());
  fields.number(map.getNumSymbols());
  AffineFields(fields).write(map.getResults());
}

} // namespace twinjit
