// Python face of the pool of private contexts. Every entry point says what it does with the GIL.
#include "common/heap.h"
#include "forks/work.h"
#include "ir/bindings.h"
#include "ir/context_pool.h"

#include <nanobind/nanobind.h>

namespace nb = nanobind;
using namespace nb::literals;

namespace twinjit {
namespace {

nb::dict poolStatsToPython() {
  PoolStats stats = poolStats();
  nb::dict result;
  result["idle"] = stats.idle;
  result["leased"] = stats.leased;
  result["idle_bytes"] = stats.idleBytes;
  result["leased_bytes"] = stats.leasedBytes;
  result["made"] = stats.made;
  result["recycled_by_uses"] = stats.recycledByUses;
  result["recycled_by_growth"] = stats.recycledByGrowth;
  result["tainted"] = stats.tainted;
  result["surplus"] = stats.surplus;
  return result;
}

void releaseContextsToPython(bool givesBack) {
  CompilerWork work;
  releaseIdleContexts();
  if (givesBack)
    giveBackFreed(/*always=*/true);
}

} // namespace

void bindPool(nb::module_ &m) {
  m.def("pool_stats", &poolStatsToPython, nb::sig("def pool_stats() -> dict[str, int]"),
        "Private contexts: how many are ``idle`` and ``leased``; ``idle_bytes`` of memory in the "
        "former, and ``leased_bytes`` that the latter had when they were taken, as measured; and "
        "since the process began, how many were ``made``, and how many "
        "were not kept since they were used often (``recycled_by_uses``), had grown "
        "(``recycled_by_growth``), were ``tainted`` by a program's names, or were ``surplus``. "
        "Holds the GIL.");
  m.def("release_contexts", &releaseContextsToPython, "gives_back"_a = true,
        "Drop the idle private contexts, and return freed memory to the system unless told not to. "
        "Releases the GIL.");
}

} // namespace twinjit
