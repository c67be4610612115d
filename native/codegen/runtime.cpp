#include "codegen/runtime.h"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>

#if defined(__x86_64__)
#include <emmintrin.h>
#endif

namespace twinjit {
namespace {

thread_local FailureFrame *innermostFrame = nullptr;

int noCallbacks() { return 0; }
int (*callbackDepth)() = noCallbacks; // set once, before any frame
void *resolver = nullptr;             // set once, before any program

[[noreturn]] void assertionFailed(const char *message) {
  FailureFrame *frame = FailureFrame::landing();
  if (!frame) {
    // Only code that something other than a twinjit.Function called can come here.
    std::fprintf(stderr, "twinjit: assertion failed in compiled code: %s\n", message);
    std::abort();
  }
  frame->message = message;
  std::longjmp(frame->jump, 1);
}

/// memref.alloc lowers to malloc and does not look at what it returns.
void *allocate(size_t bytes) {
  if (void *block = std::malloc(bytes))
    return block;
  assertionFailed("out of memory: the program's allocation failed");
}

// MLIR's unranked memref: a rank and a pointer to {allocated, aligned, offset, sizes, strides}.
struct UnrankedMemRef {
  int64_t rank;
  const int64_t *descriptor;

  char *data(int64_t elementSize) const {
    return reinterpret_cast<char *>(descriptor[1]) + descriptor[2] * elementSize;
  }
  const int64_t *sizes() const { return descriptor + 3; }
  const int64_t *strides() const { return descriptor + 3 + rank; }
};

void copyDimension(int64_t dimension, int64_t elementSize, const UnrankedMemRef &source,
                   const UnrankedMemRef &target, const char *from, char *to) {
  if (dimension == source.rank) {
    std::memcpy(to, from, elementSize);
    return;
  }
  for (int64_t i = 0; i != source.sizes()[dimension]; ++i)
    copyDimension(dimension + 1, elementSize, source, target,
                  from + i * source.strides()[dimension] * elementSize,
                  to + i * target.strides()[dimension] * elementSize);
}

/// memref.copy between layouts that no memcpy covers lowers to a call of this name.
void memrefCopy(int64_t elementSize, const UnrankedMemRef *source, const UnrankedMemRef *target) {
  copyDimension(0, elementSize, *source, *target, source->data(elementSize),
                target->data(elementSize));
}

#if defined(__x86_64__)
// libgcc has the bfloat16 conversions only since GCC 13. A bfloat16 result travels in the low half
// of xmm0; g++ 12 has no type for it, so a vector stands in.
__m128i truncateToBfloat(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  bool isNan = (bits & 0x7fffffffu) > 0x7f800000u;
  uint32_t rounded = isNan ? bits | 0x00400000u : bits + 0x7fffu + ((bits >> 16) & 1);
  return _mm_cvtsi32_si128(static_cast<int>(rounded >> 16));
}

__m128i truncateDoubleToBfloat(double value) {
  // Round to odd in single precision first, so that the second rounding sees which side it was on.
  float single = static_cast<float>(value);
  uint32_t bits;
  std::memcpy(&bits, &single, sizeof bits);
  if (single == single && static_cast<double>(single) != value && !(bits & 1)) {
    bool tooFar = (static_cast<double>(single) > value) == (value > 0);
    bits = tooFar ? bits - 1 : bits + 1;
    std::memcpy(&single, &bits, sizeof bits);
  }
  return truncateToBfloat(single);
}
#endif

struct Symbol {
  const char *name;
  void *address;
};

template <typename F> void *addressOf(F *function) { return reinterpret_cast<void *>(function); }

const Symbol kRuntime[] = {
    {kAssertionFailed, addressOf(assertionFailed)},
    {kAllocate, addressOf(allocate)},
    {"memrefCopy", addressOf(memrefCopy)},
#if defined(__x86_64__)
    {"__truncsfbf2", addressOf(truncateToBfloat)},
    {"__truncdfbf2", addressOf(truncateDoubleToBfloat)},
#endif
};

} // namespace

FailureFrame::FailureFrame() : outer(innermostFrame), depth(callbackDepth()) {
  innermostFrame = this;
}

FailureFrame::~FailureFrame() { innermostFrame = outer; }

FailureFrame *FailureFrame::landing() {
  bool isDirect = innermostFrame && innermostFrame->depth == callbackDepth();
  return isDirect ? innermostFrame : nullptr;
}

void countCallbacks(int (*depth)()) { callbackDepth = depth; }

void provideResolver(void *resolve) { resolver = resolve; }

void *findSymbol(const std::string &name) {
  for (const Symbol &symbol : kRuntime)
    if (name == symbol.name)
      return symbol.address;
  if (name == kResolve)
    return resolver;
  if (void *address = dlsym(RTLD_DEFAULT, name.c_str()))
    return address;
  // Held open for the life of the process: compiled code points into them.
  static void *const math = dlopen("libm.so.6", RTLD_LAZY);
  static void *const builtins = dlopen("libgcc_s.so.1", RTLD_LAZY);
  for (void *library : {math, builtins})
    if (void *address = library ? dlsym(library, name.c_str()) : nullptr)
      return address;
  return nullptr;
}

} // namespace twinjit
