// What debug-info nodes hold besides their operands, kind by kind as llvm/IR/DebugInfoMetadata.h
// has it. Their names, scopes, types, files and most sizes are operands.
#include "llvmir/metadata.h"

namespace twinjit::llvmir {
namespace {

void optional(Fields &fields, std::optional<uint64_t> value) {
  fields.number(value.has_value());
  fields.number(value.value_or(0));
}

/// A number without the width that it was written in: text and bitcode differ in it.
void integer(Fields &fields, const llvm::APInt &value, bool isUnsigned) {
  unsigned width = isUnsigned ? value.getActiveBits() : value.getSignificantBits();
  fields.bits(value.trunc(std::min(std::max(width, 1U), value.getBitWidth())));
}

void describeType(const llvm::DIType &type, Fields &fields) {
  fields.number(type.getLine());
  fields.number(type.getFlags());
  fields.number(type.getAlignInBits());
  fields.number(type.getNumExtraInhabitants());
  if (auto *basic = llvm::dyn_cast<llvm::DIBasicType>(&type)) {
    fields.number(basic->getEncoding());
    fields.number(basic->getDataSizeInBits());
  }
  if (auto *fixed = llvm::dyn_cast<llvm::DIFixedPointType>(&type)) {
    fields.number(fixed->getKind());
    fields.number(static_cast<uint32_t>(fixed->getFactorRaw()));
    integer(fields, fixed->getNumeratorRaw(), /*isUnsigned=*/false); // as LLVM prints it
    integer(fields, fixed->getDenominatorRaw(), /*isUnsigned=*/false);
  } else if (auto *string = llvm::dyn_cast<llvm::DIStringType>(&type)) {
    fields.number(string->getEncoding());
  } else if (auto *derived = llvm::dyn_cast<llvm::DIDerivedType>(&type)) {
    auto authentication = derived->getPtrAuthData();
    optional(fields, derived->getDWARFAddressSpace());
    optional(fields,
             authentication ? std::optional<uint64_t>(authentication->RawData) : std::nullopt);
  } else if (auto *composite = llvm::dyn_cast<llvm::DICompositeType>(&type)) {
    fields.number(composite->getRuntimeLang());
    optional(fields, composite->getEnumKind());
  } else if (auto *subroutine = llvm::dyn_cast<llvm::DISubroutineType>(&type)) {
    fields.number(subroutine->getCC());
  }
}

void describeUnit(const llvm::DICompileUnit &unit, Fields &fields) {
  llvm::DISourceLanguageName language = unit.getSourceLanguage();
  fields.number(language.getName());
  optional(fields, language.hasVersionedName() ? std::optional<uint64_t>(language.getVersion())
                                               : std::nullopt);
  fields.number(unit.isOptimized());
  fields.number(unit.getRuntimeVersion());
  fields.number(unit.getEmissionKind());
  fields.number(unit.getDWOId());
  fields.number(unit.getSplitDebugInlining());
  fields.number(unit.getDebugInfoForProfiling());
  fields.number(static_cast<unsigned>(unit.getNameTableKind()));
  fields.number(unit.getRangesBaseAddress());
}

void describeSubprogram(const llvm::DISubprogram &subprogram, Fields &fields) {
  fields.number(subprogram.getLine());
  fields.number(subprogram.getScopeLine());
  fields.number(subprogram.getVirtualIndex());
  fields.number(static_cast<uint32_t>(subprogram.getThisAdjustment()));
  fields.number(subprogram.getFlags());
  fields.number(subprogram.getSPFlags());
  fields.number(subprogram.getKeyInstructionsEnabled());
}

void describeFile(const llvm::DIFile &file, Fields &fields) {
  auto checksum = file.getRawChecksum();
  fields.number(checksum ? static_cast<unsigned>(checksum->Kind) : 0U);
  fields.string(checksum && checksum->Value ? checksum->Value->getString() : "");
  fields.number(file.getSource().has_value());
  fields.string(file.getSource().value_or(""));
}

void describeLocation(const llvm::DILocation &location, Fields &fields) {
  fields.number(location.getLine());
  fields.number(location.getColumn());
  fields.number(location.isImplicitCode());
  fields.number(location.getAtomGroup());
  fields.number(location.getAtomRank());
}

void describeVariable(const llvm::DIVariable &variable, Fields &fields) {
  fields.number(variable.getLine());
  fields.number(variable.getAlignInBits());
  if (auto *local = llvm::dyn_cast<llvm::DILocalVariable>(&variable)) {
    fields.number(local->getArg());
    fields.number(local->getFlags());
  } else if (auto *global = llvm::dyn_cast<llvm::DIGlobalVariable>(&variable)) {
    fields.number(global->isLocalToUnit());
    fields.number(global->isDefinition());
  }
}

void describeLabel(const llvm::DILabel &label, Fields &fields) {
  fields.number(label.getLine());
  fields.number(label.getColumn());
  fields.number(label.isArtificial());
  optional(fields, label.getCoroSuspendIdx());
}

void describeExpression(const llvm::DIExpression &expression, Fields &fields) {
  fields.number(expression.getNumElements());
  for (uint64_t element : expression.getElements())
    fields.number(element);
}

/// Scopes that hold a few numbers.
bool describeScope(const llvm::MDNode &node, Fields &fields) {
  if (auto *block = llvm::dyn_cast<llvm::DILexicalBlock>(&node)) {
    fields.number(block->getLine());
    fields.number(block->getColumn());
  } else if (auto *file = llvm::dyn_cast<llvm::DILexicalBlockFile>(&node)) {
    fields.number(file->getDiscriminator());
  } else if (auto *space = llvm::dyn_cast<llvm::DINamespace>(&node)) {
    fields.number(space->getExportSymbols());
  } else if (auto *module = llvm::dyn_cast<llvm::DIModule>(&node)) {
    fields.number(module->getLineNo());
    fields.number(module->getIsDecl());
  } else if (auto *common = llvm::dyn_cast<llvm::DICommonBlock>(&node)) {
    fields.number(common->getLineNo());
  } else {
    return false;
  }
  return true;
}

/// Nodes that hold a few numbers, or none.
bool describeSimple(const llvm::MDNode &node, Fields &fields) {
  if (auto *enumerator = llvm::dyn_cast<llvm::DIEnumerator>(&node)) {
    integer(fields, enumerator->getValue(), enumerator->isUnsigned());
    fields.number(enumerator->isUnsigned());
  } else if (auto *parameter = llvm::dyn_cast<llvm::DITemplateParameter>(&node)) {
    fields.number(parameter->isDefault());
  } else if (auto *property = llvm::dyn_cast<llvm::DIObjCProperty>(&node)) {
    fields.number(property->getLine());
    fields.number(property->getAttributes());
  } else if (auto *entity = llvm::dyn_cast<llvm::DIImportedEntity>(&node)) {
    fields.number(entity->getLine());
  } else if (auto *macro = llvm::dyn_cast<llvm::DIMacroNode>(&node)) {
    fields.number(macro->getMacinfoType());
    auto *single = llvm::dyn_cast<llvm::DIMacro>(macro);
    fields.number(single ? single->getLine() : llvm::cast<llvm::DIMacroFile>(macro)->getLine());
  } else {
    return llvm::isa<llvm::GenericDINode, llvm::DISubrange, llvm::DIGenericSubrange,
                     llvm::DIGlobalVariableExpression, llvm::DIAssignID>(node);
  }
  return true;
}

} // namespace

bool describeDebugData(const llvm::MDNode &node, Fields &fields) {
  if (auto *tagged = llvm::dyn_cast<llvm::DINode>(&node))
    fields.number(tagged->getTag());
  if (auto *type = llvm::dyn_cast<llvm::DIType>(&node))
    describeType(*type, fields);
  else if (auto *unit = llvm::dyn_cast<llvm::DICompileUnit>(&node))
    describeUnit(*unit, fields);
  else if (auto *subprogram = llvm::dyn_cast<llvm::DISubprogram>(&node))
    describeSubprogram(*subprogram, fields);
  else if (auto *file = llvm::dyn_cast<llvm::DIFile>(&node))
    describeFile(*file, fields);
  else if (auto *location = llvm::dyn_cast<llvm::DILocation>(&node))
    describeLocation(*location, fields);
  else if (auto *variable = llvm::dyn_cast<llvm::DIVariable>(&node))
    describeVariable(*variable, fields);
  else if (auto *label = llvm::dyn_cast<llvm::DILabel>(&node))
    describeLabel(*label, fields);
  else if (auto *expression = llvm::dyn_cast<llvm::DIExpression>(&node))
    describeExpression(*expression, fields);
  else
    return describeScope(node, fields) || describeSimple(node, fields);
  return true;
}

} // namespace twinjit::llvmir
