#include "library/replacements.h"

namespace twinjit::library {

Replacements::Replacements(const Globals &globals, size_t others) : globals(globals), mapped(0) {
  values.reserve(static_cast<unsigned>(globals.size() + others));
  for (auto [source, target] : globals)
    set(*source, *target);
}

void Replacements::prepare(const Plan &plan) {
  if (plan.constants.empty() && !plan.mapsMetadata)
    return;
  if (mapped.empty())
    for (auto [source, target] : globals)
      mapped[source] = target;
  for (const llvm::MDNode *node : plan.distinct)
    mapped.MD()[node].reset(const_cast<llvm::MDNode *>(node));
  for (const llvm::Constant *constant : plan.constants)
    set(*constant, *llvm::MapValue(constant, mapped));
}

llvm::Metadata *Replacements::of(llvm::Metadata &metadata) {
  if (auto *local = llvm::dyn_cast<llvm::LocalAsMetadata>(&metadata))
    return llvm::ValueAsMetadata::get(of(*local->getValue()));
  return llvm::MapMetadata(&metadata, mapped);
}

} // namespace twinjit::library
