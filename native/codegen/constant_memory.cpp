#include "codegen/constant_memory.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <functional>

namespace twinjit {
namespace {

Failure failure(std::error_code error) {
  return Failure{Kind::Load, "no memory for the program's constants: " + error.message()};
}

} // namespace

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
  constexpr unsigned kRead = llvm::sys::Memory::MF_READ, kWrite = llvm::sys::Memory::MF_WRITE;
  std::error_code error;
  memory.block = llvm::sys::OwningMemoryBlock(llvm::sys::Memory::allocateMappedMemory(
      std::max<uint64_t>(end, 1), nullptr, kRead | kWrite, error));
  if (error)
    return failure(error);
  auto *base = static_cast<char *>(memory.block.base());
  for (const auto &[constant, offset] : llvm::zip_equal(constants, offsets)) {
    std::copy(constant.bytes.begin(), constant.bytes.end(), base + offset);
    memory.addresses[constant.name] = base + offset;
  }
  if ((error = llvm::sys::Memory::protectMappedMemory(memory.block.getMemoryBlock(), kRead)))
    return failure(error);
  return memory;
}

bool ConstantMemory::contains(const void *pointer) const {
  auto *base = static_cast<const char *>(block.base());
  auto *byte = static_cast<const char *>(pointer);
  return base && std::less_equal<>()(base, byte) &&
         std::less<>()(byte, base + block.allocatedSize());
}

} // namespace twinjit
