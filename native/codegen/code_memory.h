// Where JITLink puts what it links.
#pragma once

#include "codegen/pages.h"

#include "llvm/ExecutionEngine/JITLink/JITLinkMemoryManager.h"

namespace twinjit {

/// Gives each image pages of the process's arenas (pages.h): however many there are, the kernel
/// keeps few mappings of them. Links where it is called, so that JITLink is synchronous.
class CodeMemory : public llvm::jitlink::JITLinkMemoryManager {
public:
  /// Lives until exit, and is never destroyed: images may outlive static destructors.
  static CodeMemory &instance();

  using JITLinkMemoryManager::allocate;
  using JITLinkMemoryManager::deallocate;

  void allocate(const llvm::jitlink::JITLinkDylib *dylib, llvm::jitlink::LinkGraph &graph,
                OnAllocatedFunction onAllocated) override;
  void deallocate(std::vector<FinalizedAlloc> images, OnDeallocatedFunction onDone) override;

  /// The pages of an image.
  static const Pages &pagesOf(const FinalizedAlloc &image);
};

} // namespace twinjit
