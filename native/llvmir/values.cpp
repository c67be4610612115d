// Fields that hold values, metadata and attributes.
#include "llvmir/debug_info.h"
#include "llvmir/field_names.h"
#include "llvmir/walk.h"

#include "llvm/IR/InlineAsm.h"

namespace twinjit::llvmir {
namespace {

enum ValueTag : uint8_t {
  kConstantValue = 0,
  kLocalValue = 1,
  kMetadataValue = 2,
  kAssembly = 3,
};

/// Attachments that place a symbol or make LLVM emit something, rather than tell it what it may
/// assume. They count under any policy.
bool isBinding(llvm::StringRef kind) {
  static constexpr llvm::StringLiteral kNames[] = {
      "absolute_symbol", "associated", "exclude",        "func_sanitize", "implicit.ref",
      "kcfi_type",       "pcsections", "section_prefix", "type",          "vcall_visibility"};
  return llvm::is_contained(kNames, kind);
}

/// Whether a constant is small enough to be shown. LLVM's printer recurses.
bool isShort(const llvm::Constant &constant) {
  constexpr unsigned kMaxParts = 32;
  llvm::SmallVector<const llvm::Constant *, 8> pending = {&constant};
  unsigned parts = 0;
  while (!pending.empty()) {
    const llvm::Constant *each = pending.pop_back_val();
    if (llvm::isa<llvm::GlobalValue>(each))
      continue;
    auto *data = llvm::dyn_cast<llvm::ConstantDataSequential>(each);
    parts += data && !data->isString() ? data->getNumElements() : each->getNumOperands() + 1;
    if (parts > kMaxParts || (data && data->getNumElements() > 256))
      return false;
    for (const llvm::Value *operand : each->operand_values())
      if (auto *part = llvm::dyn_cast<llvm::Constant>(operand))
        pending.push_back(part);
  }
  return true;
}

void print(const llvm::Value &value, llvm::raw_ostream &stream, llvm::ModuleSlotTracker &slots) {
  auto *constant = llvm::dyn_cast<llvm::Constant>(&value);
  if (!constant || isShort(*constant)) {
    value.printAsOperand(stream, /*PrintType=*/!value.getType()->isLabelTy(), slots);
  } else {
    value.getType()->print(stream, false, /*NoDetails=*/true);
    stream << " …";
  }
}

/// What a node is, rather than its number in the text.
void print(const llvm::Metadata &metadata, const llvm::Module &module, llvm::raw_ostream &stream,
           llvm::ModuleSlotTracker &slots) {
  auto *node = llvm::dyn_cast<llvm::MDNode>(&metadata);
  if (!node || node->isDistinct())
    return metadata.printAsOperand(stream, slots, &module);
  std::string text;
  llvm::raw_string_ostream buffer(text);
  node->print(buffer, slots, &module);
  llvm::StringRef definition = text;
  size_t start = definition.find(" = ");
  stream << (definition.starts_with("!") && start != llvm::StringRef::npos &&
                     definition.take_front(start).drop_front().find_first_not_of("0123456789") ==
                         llvm::StringRef::npos
                 ? definition.drop_front(start + 3)
                 : definition);
}

void describeAssembly(const llvm::InlineAsm &assembly, Ref type, Fields &content) {
  content.tag(kAssembly);
  content.ref(type);
  content.string(assembly.getAsmString());
  content.string(assembly.getConstraintString());
  content.number(assembly.hasSideEffects());
  content.number(assembly.isAlignStack());
  content.number(assembly.getDialect());
  content.number(assembly.canThrow());
}

} // namespace

void Walk::contentOf(const llvm::Value *value, Fields &content) {
  if (auto *constant = llvm::dyn_cast<llvm::Constant>(value)) {
    content.tag(kConstantValue);
    content.content(constants.of(constant));
  } else if (auto *wrapped = llvm::dyn_cast<llvm::MetadataAsValue>(value)) {
    content.tag(kMetadataValue);
    metadataContents.describe(wrapped->getMetadata(), content);
  } else if (auto *assembly = llvm::dyn_cast<llvm::InlineAsm>(value)) {
    describeAssembly(*assembly, types.of(assembly->getFunctionType()), content);
  } else {
    content.tag(kLocalValue);
    content.identity(value);
  }
}

void Walk::value(FieldName name, const llvm::Value *value) {
  fields.clear();
  contentOf(value, fields);
  emit(name, fields, [&](llvm::raw_ostream &stream, llvm::ModuleSlotTracker &slots) {
    print(*value, stream, slots);
  });
}

void Walk::metadata(FieldName name, const llvm::Metadata *metadata) {
  fields.clear();
  metadataContents.describe(metadata, fields);
  emit(name, fields, [&](llvm::raw_ostream &stream, llvm::ModuleSlotTracker &slots) {
    if (metadata)
      print(*metadata, module, stream, slots);
    else
      stream << "null";
  });
}

void Walk::attributes(llvm::AttributeList list) {
  for (unsigned index : list.indexes()) {
    llvm::AttributeSet set = list.getAttributes(index);
    if (!set.hasAttributes())
      continue;
    FieldName name = names::kAttributes;
    if (index == llvm::AttributeList::ReturnIndex)
      name = names::kResultAttributes;
    else if (index != llvm::AttributeList::FunctionIndex)
      name = names::kArgumentAttributes.at(index - llvm::AttributeList::FirstArgIndex);
    attributes(name, set);
  }
}

void Walk::attributes(FieldName name, llvm::AttributeSet set) {
  fields.clear();
  fields.ref(types.of(set));
  emit(name, fields,
       [&](llvm::raw_ostream &stream, llvm::ModuleSlotTracker &) { stream << set.getAsString(); });
}

void Walk::attachments(const llvm::Value &owner,
                       llvm::MutableArrayRef<std::pair<unsigned, llvm::MDNode *>> list) {
  // LLVM orders them by numbers of kinds, some of which depend on what a context has seen before.
  llvm::stable_sort(list, [&](const auto &a, const auto &b) {
    return metadataKinds[a.first] < metadataKinds[b.first];
  });
  unsigned index = 0;
  for (size_t i = 0; i != list.size(); ++i) {
    auto [kind, node] = list[i];
    if (!counts(metadataKinds[kind], *node)) {
      sink.leftOut(owner, kind, *node);
      continue;
    }
    index = i != 0 && list[i - 1].first == kind ? index + 1 : 0;
    FieldName name = {names::kAttachment.number, attachmentName(kind)};
    fields.clear();
    fields.string(metadataKinds[kind]);
    metadataContents.describe(node, fields);
    emit(index == 0 ? name : name.at(index), fields,
         [&, shown = node](llvm::raw_ostream &stream, llvm::ModuleSlotTracker &slots) {
           print(*shown, module, stream, slots);
         });
  }
}

bool Walk::counts(llvm::StringRef kind, const llvm::MDNode &node) const {
  if (policy.ignoreLocations) {
    if (kind == "dbg" || kind == "DIAssignID" || isDebugInfo(node))
      return false;
    if (kind == "llvm.loop" && namesLinesOnly(node))
      return false;
  }
  bool isDebug = kind == "dbg" || kind == "DIAssignID";
  return isDebug || isBinding(kind) || !policy.ignoresDiscardable(kind);
}

} // namespace twinjit::llvmir
