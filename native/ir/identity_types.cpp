#include "ir/identity_attributes.h"
#include "ir/identity_fields.h"

#include "mlir/Dialect/LLVMIR/LLVMTypes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/TypeSwitch.h"

namespace twinjit {
namespace {

// What describeRecursive() wrote.
enum Form : uint8_t { kReference = 1, kBodies = 2 };

} // namespace

bool isRecursive(mlir::Type type) {
  if (auto structure = llvm::dyn_cast<mlir::LLVM::LLVMStructType>(type))
    return structure.isIdentified();
  return type.hasTrait<mlir::TypeTrait::IsMutable>();
}

void AttributeDigests::describe(FieldHasher &fields, mlir::Type type) {
  if (isRecursive(type))
    return describeRecursive(fields, type);
  if (!describeBuiltin(fields, type) && !describeShaped(fields, type) &&
      !describeLLVM(fields, type))
    describeForeign(fields, type);
}

bool AttributeDigests::describeBuiltin(FieldHasher &fields, mlir::Type type) {
  return llvm::TypeSwitch<mlir::Type, bool>(type)
      .Case([&](mlir::IntegerType integer) {
        fields.number(integer.getWidth());
        switch (integer.getSignedness()) {
        case mlir::IntegerType::Signless:
          return fields.tag(0), true;
        case mlir::IntegerType::Signed:
          return fields.tag(1), true;
        case mlir::IntegerType::Unsigned:
          return fields.tag(2), true;
        }
        return false;
      })
      .Case<mlir::IndexType, mlir::NoneType>([](mlir::Type) { return true; }) // the name says all
      .Case([&](mlir::ComplexType complex) {
        return fields.digest(of(complex.getElementType())), true;
      })
      .Case<mlir::FunctionType, mlir::GraphType>([&](auto function) {
        list(fields, function.getInputs());
        return list(fields, function.getResults()), true;
      })
      .Case([&](mlir::TupleType tuple) { return list(fields, tuple.getTypes()), true; })
      .Case([&](mlir::OpaqueType opaque) {
        fields.string(opaque.getDialectNamespace());
        return describeOpaque(fields, opaque.getTypeData()), true;
      })
      .Default([](mlir::Type other) {
        // A builtin float type is its name; another dialect's may have parameters.
        return llvm::isa<mlir::FloatType>(other) && other.getDialect().getNamespace() == "builtin";
      });
}

bool AttributeDigests::describeShaped(FieldHasher &fields, mlir::Type type) {
  return llvm::TypeSwitch<mlir::Type, bool>(type)
      .Case([&](mlir::VectorType vector) {
        integers(fields, vector.getShape());
        for (bool isScalable : vector.getScalableDims()) // as many as the shape has
          fields.tag(isScalable);
        return fields.digest(of(vector.getElementType())), true;
      })
      .Case([&](mlir::RankedTensorType tensor) {
        integers(fields, tensor.getShape());
        fields.digest(of(tensor.getElementType()));
        return fields.digest(of(tensor.getEncoding())), true;
      })
      .Case([&](mlir::UnrankedTensorType tensor) {
        return fields.digest(of(tensor.getElementType())), true;
      })
      .Case([&](mlir::MemRefType memref) {
        integers(fields, memref.getShape());
        fields.digest(of(memref.getElementType()));
        fields.digest(of(static_cast<mlir::Attribute>(memref.getLayout())));
        return fields.digest(of(memref.getMemorySpace())), true;
      })
      .Case([&](mlir::UnrankedMemRefType memref) {
        fields.digest(of(memref.getElementType()));
        return fields.digest(of(memref.getMemorySpace())), true;
      })
      .Default([](mlir::Type) { return false; });
}

bool AttributeDigests::describeLLVM(FieldHasher &fields, mlir::Type type) {
  return llvm::TypeSwitch<mlir::Type, bool>(type)
      .Case([&](mlir::LLVM::LLVMPointerType pointer) {
        return fields.number(pointer.getAddressSpace()), true;
      })
      .Case([&](mlir::LLVM::LLVMArrayType array) {
        fields.number(array.getNumElements());
        return fields.digest(of(array.getElementType())), true;
      })
      .Case([&](mlir::LLVM::LLVMFunctionType function) {
        fields.digest(of(function.getReturnType()));
        list(fields, function.getParams());
        return fields.tag(function.isVarArg()), true;
      })
      .Case([&](mlir::LLVM::LLVMStructType literal) {
        fields.tag(literal.isPacked());
        return list(fields, literal.getBody()), true;
      })
      .Default([](mlir::Type) { return false; });
}

void AttributeDigests::describeRecursive(FieldHasher &fields, mlir::Type type) {
  auto structure = llvm::dyn_cast<mlir::LLVM::LLVMStructType>(type);
  if (!structure) // whether it has its body yet, only its own dialect knows
    shorten(Lifetime::Program);
  if (bodies) {
    bodies->reached.insert(type);
    fields.tag(kReference);
    return fields.string(structure ? structure.getName().str()
                                   : printedForm(type, statePrinting()));
  }
  fields.tag(kBodies);
  Bodies mine;
  mine.reached.insert(type);
  bodies = &mine;
  for (size_t i = 0; i != mine.reached.size(); ++i) // grows meanwhile
    describeBody(fields, mine.reached[i]);
  bodies = nullptr;
}

void AttributeDigests::describeBody(FieldHasher &fields, mlir::Type type) {
  auto structure = llvm::dyn_cast<mlir::LLVM::LLVMStructType>(type);
  if (!structure) {
    fields.string(type.getAbstractType().getName());
    return describeForeign(fields, type);
  }
  fields.string(structure.getName());
  bool hasBody = structure.isInitialized();
  fields.tag(hasBody);
  if (!hasBody) {
    shorten(Lifetime::Program);
    return;
  }
  fields.tag(structure.isOpaque());
  fields.tag(structure.isPacked());
  list(fields, structure.getBody());
}

} // namespace twinjit
