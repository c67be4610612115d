#include "llvmir/types.h"

#include "llvm/IR/ConstantRange.h"
#include "llvm/IR/DerivedTypes.h"
#include "llvm/IR/TypedPointerType.h"
#include "llvm/Support/raw_ostream.h"

namespace twinjit::llvmir {
namespace {

enum TypeTag : uint8_t {
  kPrimitive = 0,
  kInteger = 1,
  kPointer = 2,
  kStruct = 3,
  kOpaqueStruct = 4,
  kArray = 5,
  kFixedVector = 6,
  kScalableVector = 7,
  kFunction = 8,
  kTargetExtension = 9,
  kTypedPointer = 10,
};

enum AttributeTag : uint8_t {
  kFlag = 0,
  kIntegerValue = 1,
  kTypeValue = 2,
  kStringValue = 3,
  kRange = 4,
  kRangeList = 5,
};

void describe(const llvm::ConstantRange &range, Fields &fields) {
  fields.bits(range.getLower());
  fields.bits(range.getUpper());
}

} // namespace

Ref TypeContents::of(const llvm::Type *type) {
  visitOperandsFirst(
      type, [&](const llvm::Type *each) { return types.contains(each); },
      [](const llvm::Type *each, auto push) { llvm::for_each(each->subtypes(), push); },
      [&](const llvm::Type *each) {
        Fields fields;
        describe(each, fields);
        types.try_emplace(each, interner.intern(fields.bytes()));
      });
  return types.lookup(type);
}

void TypeContents::describe(const llvm::Type *type, Fields &fields) {
  if (auto *integer = llvm::dyn_cast<llvm::IntegerType>(type)) {
    fields.tag(kInteger);
    fields.number(integer->getBitWidth());
  } else if (auto *pointer = llvm::dyn_cast<llvm::PointerType>(type)) {
    fields.tag(kPointer);
    fields.number(pointer->getAddressSpace());
  } else if (auto *structure = llvm::dyn_cast<llvm::StructType>(type)) {
    fields.tag(structure->isOpaque() ? kOpaqueStruct : kStruct);
    fields.number(structure->isPacked());
  } else if (auto *array = llvm::dyn_cast<llvm::ArrayType>(type)) {
    fields.tag(kArray);
    fields.number(array->getNumElements());
  } else if (auto *vector = llvm::dyn_cast<llvm::VectorType>(type)) {
    fields.tag(vector->getElementCount().isScalable() ? kScalableVector : kFixedVector);
    fields.number(vector->getElementCount().getKnownMinValue());
  } else if (auto *function = llvm::dyn_cast<llvm::FunctionType>(type)) {
    fields.tag(kFunction);
    fields.number(function->isVarArg());
  } else if (auto *extension = llvm::dyn_cast<llvm::TargetExtType>(type)) {
    fields.tag(kTargetExtension);
    fields.string(extension->getName());
    fields.number(extension->getNumIntParameters());
    for (unsigned parameter : extension->int_params())
      fields.number(parameter);
  } else if (auto *typed = llvm::dyn_cast<llvm::TypedPointerType>(type)) {
    fields.tag(kTypedPointer);
    fields.number(typed->getAddressSpace());
  } else {
    std::string name;
    llvm::raw_string_ostream(name) << *type;
    fields.tag(kPrimitive);
    fields.string(name);
  }
  fields.number(type->getNumContainedTypes());
  for (const llvm::Type *part : type->subtypes())
    fields.ref(types.lookup(part));
}

void TypeContents::describe(llvm::Attribute attribute, Fields &fields) {
  if (attribute.isStringAttribute()) {
    fields.tag(kStringValue);
    fields.string(attribute.getKindAsString());
    fields.string(attribute.getValueAsString());
    return;
  }
  llvm::StringRef name = llvm::Attribute::getNameFromAttrKind(attribute.getKindAsEnum());
  if (attribute.isIntAttribute()) {
    fields.tag(kIntegerValue);
    fields.string(name);
    fields.number(attribute.getValueAsInt());
  } else if (attribute.isTypeAttribute()) {
    fields.tag(kTypeValue);
    fields.string(name);
    const llvm::Type *type = attribute.getValueAsType();
    fields.number(type != nullptr);
    if (type)
      fields.ref(of(type));
  } else if (attribute.isConstantRangeAttribute()) {
    fields.tag(kRange);
    fields.string(name);
    llvmir::describe(attribute.getValueAsConstantRange(), fields);
  } else if (attribute.isConstantRangeListAttribute()) {
    fields.tag(kRangeList);
    fields.string(name);
    fields.number(attribute.getValueAsConstantRangeList().size());
    for (const llvm::ConstantRange &range : attribute.getValueAsConstantRangeList())
      llvmir::describe(range, fields);
  } else {
    fields.tag(kFlag);
    fields.string(name);
  }
}

Ref TypeContents::of(llvm::AttributeSet attributes) {
  auto known = attributeSets.find(attributes);
  if (known != attributeSets.end())
    return known->second;
  Fields fields;
  fields.number(attributes.getNumAttributes());
  for (llvm::Attribute attribute : attributes) // in LLVM's order, whatever that of the text
    describe(attribute, fields);
  return attributeSets.try_emplace(attributes, interner.intern(fields.bytes())).first->second;
}

} // namespace twinjit::llvmir
