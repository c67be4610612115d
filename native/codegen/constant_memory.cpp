#include "codegen/constant_memory.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <cerrno>

namespace twinjit {

Outcome<ConstantMemory> ConstantMemory::copy(llvm::ArrayRef<Constant> constants) {
  ConstantMemory memory;
  if (constants.empty())
    return memory;
  std::vector<uint64_t> offsets;
  uint64_t end = 0;
  for (const Constant &constant : constants) {
    offsets.push_back(llvm::alignTo(end, constant.alignment));
    end = offsets.back() + constant.bytes.size();
  }
  ZoneSizes sizes = {};
  sizes[static_cast<size_t>(Zone::ReadOnly)] = std::max<uint64_t>(end, 1);
  auto pages = Pages::allocate(sizes);
  if (!pages)
    return noMemory(std::generic_category().message(errno));
  char *base = pages->begin(Zone::ReadOnly);
  for (const auto &[constant, offset] : llvm::zip_equal(constants, offsets)) {
    std::copy(constant.bytes.begin(), constant.bytes.end(), base + offset);
    memory.addresses[constant.name] = base + offset;
  }
  if (!pages->seal())
    return noMemory(std::generic_category().message(errno));
  memory.pages = std::move(*pages);
  return memory;
}

} // namespace twinjit
