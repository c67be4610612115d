#include "ir/identity_attributes.h"

#include "ir/affine_fields.h"
#include "ir/identity_fields.h"

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/PointerUnion.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/ADT/bit.h"

namespace twinjit {
namespace {

// Elements and blobs are hashed as they lie in memory.
static_assert(llvm::endianness::native == llvm::endianness::little,
              "fingerprints are the same on every machine only if memory is read alike");

// First byte of every digest; the format's version (identity.cpp) covers them.
enum Tag : uint8_t { kNull = 0, kAttribute = 1, kType = 2 };

Tag tagOf(mlir::Attribute) { return kAttribute; }
Tag tagOf(mlir::Type) { return kType; }

llvm::StringRef nameOf(mlir::Attribute attribute) {
  return attribute.getAbstractAttribute().getName();
}
llvm::StringRef nameOf(mlir::Type type) { return type.getAbstractType().getName(); }

} // namespace

AttributeDigests::AttributeDigests(mlir::MLIRContext *context, Identities &identities,
                                   ContentTable *exact)
    : identities(identities), exact(exact), memo(exact ? nullptr : DigestMemo::of(context)),
      context(context) {}

template <typename T> Digest AttributeDigests::digestOf(T value) {
  if (!value) {
    last = Lifetime::Context;
    FieldHasher fields = fresh();
    fields.tag(kNull);
    return fields.finish();
  }
  const void *key = value.getAsOpaquePointer();
  if (bodies) {
    if (auto known = bodies->digests.find(key); known != bodies->digests.end())
      return known->second;
    Digest digest = compute(value);
    bodies->digests.try_emplace(key, digest);
    return digest;
  }
  if (std::optional<Digest> digest = known(key))
    return *digest;
  return computeAndKeep(value);
}

template Digest AttributeDigests::digestOf(mlir::Attribute);
template Digest AttributeDigests::digestOf(mlir::Type);

std::optional<Digest> AttributeDigests::known(const void *key) {
  auto use = [this](Lifetime kept, const Digest &digest) {
    shorten(kept);
    last = kept;
    return digest;
  };
  if (memo) {
    std::optional<DigestMemo::Entry> entry = memo->find(key);
    if (entry && !(entry->namesSymbols && identities.renamesSymbols())) {
      namesSymbols |= entry->namesSymbols;
      return use(Lifetime::Context, entry->digest);
    }
  }
  if (auto found = programDigests.find(key); found != programDigests.end())
    return use(Lifetime::Program, found->second);
  if (auto found = tableDigests.find(key); found != tableDigests.end())
    return use(Lifetime::SymbolTable, found->second);
  return std::nullopt;
}

template <typename T> Digest AttributeDigests::computeAndKeep(T value) {
  Lifetime outerLifetime = std::exchange(lifetime, Lifetime::Context);
  bool outerNames = std::exchange(namesSymbols, false);
  Digest digest = compute(value);
  const void *key = value.getAsOpaquePointer();
  if (lifetime == Lifetime::Context && memo)
    memo->store(key, {digest, namesSymbols});
  else if (lifetime != Lifetime::SymbolTable)
    programDigests.try_emplace(key, digest);
  else
    tableDigests.try_emplace(key, digest);
  last = lifetime;
  shorten(outerLifetime);
  namesSymbols |= outerNames;
  return digest;
}

bool AttributeDigests::isKnown(const void *key) const {
  if (bodies)
    return bodies->digests.contains(key);
  if (memo)
    if (std::optional<DigestMemo::Entry> entry = memo->find(key);
        entry && !(entry->namesSymbols && identities.renamesSymbols()))
      return true;
  return programDigests.contains(key) || tableDigests.contains(key);
}

/// Compute the digests of what `value` holds, innermost first.
template <typename T> void AttributeDigests::settleParts(T value) {
  using Part = llvm::PointerUnion<mlir::Attribute, mlir::Type>;
  llvm::SmallVector<Part> pending;
  llvm::DenseSet<const void *> opened;
  auto push = [&](auto part) {
    if (part && !opened.contains(part.getAsOpaquePointer()) && !isKnown(part.getAsOpaquePointer()))
      pending.push_back(part);
  };
  auto open = [&](auto part) {
    size_t first = pending.size();
    if (opened.insert(part.getAsOpaquePointer()).second && !isRecursive(part))
      part.walkImmediateSubElements(push, push);
    std::reverse(pending.begin() + first, pending.end());
    return pending.size() == first;
  };
  open(value);
  while (!pending.empty()) {
    Part part = pending.back();
    bool isReady = llvm::isa<mlir::Attribute>(part) ? open(llvm::cast<mlir::Attribute>(part))
                                                    : open(llvm::cast<mlir::Type>(part));
    if (!isReady)
      continue;
    pending.pop_back();
    if (auto attribute = llvm::dyn_cast<mlir::Attribute>(part))
      of(attribute);
    else
      of(llvm::cast<mlir::Type>(part));
  }
}

template <typename T> Digest AttributeDigests::compute(T value) {
  if (depth == kMaxDepth) {
    fail(
        "attributes or types are nested too deep in one whose dialect does not tell what it holds");
    return {};
  }
  if (depth >= kMaxPlainDepth)
    settleParts(value);
  ++depth;
  FieldHasher fields = fresh();
  fields.tag(tagOf(value));
  fields.string(nameOf(value));
  describe(fields, value);
  --depth;
  return fields.finish();
}

void AttributeDigests::describe(FieldHasher &fields, mlir::Attribute attribute) {
  if (attribute.hasTrait<mlir::AttributeTrait::IsMutable>())
    return fail("attribute " + nameOf(attribute).str() + " can change while it is in use");
  if (!describeSimple(fields, attribute) && !describeCollection(fields, attribute) &&
      !describeElements(fields, attribute))
    describeForeign(fields, attribute);
}

bool AttributeDigests::describeSimple(FieldHasher &fields, mlir::Attribute attribute) {
  return llvm::TypeSwitch<mlir::Attribute, bool>(attribute)
      .Case([&](mlir::StringAttr string) {
        fields.string(string.getValue());
        return fields.digest(of(string.getType())), true;
      })
      .Case([&](mlir::IntegerAttr integer) {
        fields.digest(of(integer.getType()));
        return bits(fields, integer.getValue()), true;
      })
      .Case([&](mlir::FloatAttr number) {
        fields.digest(of(number.getType()));
        return bits(fields, number.getValue().bitcastToAPInt()), true;
      })
      .Case([&](mlir::TypeAttr type) { return fields.digest(of(type.getValue())), true; })
      .Case([&](mlir::UnitAttr) { return true; })
      .Case([&](mlir::SymbolRefAttr symbol) { return describeReference(fields, symbol), true; })
      .Case([&](mlir::AffineMapAttr map) { return affine(fields, map.getValue()), true; })
      .Case([&](mlir::IntegerSetAttr set) { return affine(fields, set.getValue()), true; })
      .Case([&](mlir::StridedLayoutAttr layout) {
        fields.number(static_cast<uint64_t>(layout.getOffset()));
        return integers(fields, layout.getStrides()), true;
      })
      .Case([&](mlir::OpaqueAttr opaque) {
        fields.string(opaque.getDialectNamespace());
        describeOpaque(fields, opaque.getAttrData());
        return fields.digest(of(opaque.getType())), true;
      })
      .Default([](mlir::Attribute) { return false; });
}

bool AttributeDigests::describeCollection(FieldHasher &fields, mlir::Attribute attribute) {
  if (auto array = llvm::dyn_cast<mlir::ArrayAttr>(attribute)) {
    list(fields, array.getValue());
    return true;
  }
  if (auto dictionary = llvm::dyn_cast<mlir::DictionaryAttr>(attribute)) {
    fields.number(dictionary.size());
    for (mlir::NamedAttribute entry : dictionary) { // sorted by name
      fields.string(entry.getName());
      fields.digest(of(entry.getValue()));
    }
    return true;
  }
  if (auto distinct = llvm::dyn_cast<mlir::DistinctAttr>(attribute)) {
    shorten(identities.isBrief() ? Lifetime::SymbolTable : Lifetime::Program);
    std::optional<uint32_t> number = identities.distinct(distinct);
    if (!number)
      number = distincts.try_emplace(distinct, distincts.size()).first->second;
    fields.number32(*number);
    fields.digest(of(distinct.getReferencedAttr()));
    return true;
  }
  return false;
}

bool AttributeDigests::describeElements(FieldHasher &fields, mlir::Attribute attribute) {
  return llvm::TypeSwitch<mlir::Attribute, bool>(attribute)
      .Case([&](mlir::DenseIntOrFPElementsAttr elements) {
        fields.digest(of(elements.getType()));
        fields.tag(elements.isSplat()); // the raw data of a splat is one element
        return blob(fields, elements.getRawData()), true;
      })
      .Case([&](mlir::DenseStringElementsAttr elements) {
        fields.digest(of(elements.getType()));
        fields.tag(elements.isSplat());
        fields.number(elements.getRawStringData().size());
        for (llvm::StringRef string : elements.getRawStringData())
          fields.string(string);
        return true;
      })
      .Case([&](mlir::DenseArrayAttr array) {
        fields.digest(of(array.getElementType()));
        fields.number(static_cast<uint64_t>(array.getSize()));
        return blob(fields, array.getRawData()), true;
      })
      .Case([&](mlir::SparseElementsAttr elements) {
        fields.digest(of(elements.getType()));
        fields.digest(of(elements.getIndices()));
        return fields.digest(of(elements.getValues())), true;
      })
      .Case([&](mlir::DenseResourceElementsAttr elements) {
        fields.digest(of(elements.getType()));
        return describeResource(fields, elements.getRawHandle()), true;
      })
      .Default([](mlir::Attribute) { return false; });
}

/// MLIR keeps the text of what it does not know as it was written.
void AttributeDigests::describeOpaque(FieldHasher &fields, llvm::StringRef text) {
  if (refersOutside(text))
    fail("'" + text.str() + "', of a dialect that is unknown here, refers to what its text does " +
         "not hold");
  fields.string(text);
}

void AttributeDigests::describeReference(FieldHasher &fields, mlir::SymbolRefAttr reference) {
  namesSymbols = true;
  llvm::SmallVector<mlir::StringAttr, 2> names = {reference.getRootReference()};
  for (mlir::FlatSymbolRefAttr nested : reference.getNestedReferences())
    names.push_back(nested.getAttr());
  if (identities.renamesSymbols())
    shorten(Lifetime::SymbolTable);
  fields.number(names.size());
  llvm::SmallVector<std::optional<uint32_t>, 2> numbers = identities.symbols(reference);
  for (size_t i = 0; i != names.size(); ++i) {
    bool isNumbered = i < numbers.size() && numbers[i];
    fields.tag(isNumbered);
    if (isNumbered)
      fields.number32(*numbers[i]);
    else
      fields.string(names[i]);
  }
}

/// A resource is its bytes, whatever its key. Its alignment counts too: it is written in the
/// program, survives bytecode, and a pass may give it to a global.
void AttributeDigests::describeResource(FieldHasher &fields,
                                        const mlir::AsmDialectResourceHandle &handle) {
  shorten(Lifetime::Program);
  auto *known = llvm::dyn_cast<mlir::DenseResourceElementsHandle>(&handle);
  if (!known) // only the builtin dialect has handles that can be read
    return fail("a resource of dialect '" + handle.getDialect()->getNamespace().str() +
                "' cannot be read");
  const mlir::AsmResourceBlob *data = known->getBlob();
  if (!data)
    return fail("resource '" + known->getKey().str() + "' has no data");
  fields.number(data->getDataAlignment());
  blob(fields, data->getData());
}

} // namespace twinjit
