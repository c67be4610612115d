#include "codegen/code_memory.h"

#include "llvm/ExecutionEngine/JITLink/JITLink.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <cerrno>

namespace twinjit {

namespace jl = llvm::jitlink;
namespace orc = llvm::orc;

namespace {

/// What a FinalizedAlloc's address leads to.
struct Finalized {
  Pages pages;
  std::vector<orc::shared::WrapperFunctionCall> atEnd;
};

class InFlight : public jl::JITLinkMemoryManager::InFlightAlloc {
public:
  InFlight(jl::LinkGraph &graph, Pages pages) : graph(graph), pages(std::move(pages)) {}

  void abandon(OnAbandonedFunction onAbandoned) override {
    pages = Pages();
    onAbandoned(llvm::Error::success());
  }

  void finalize(OnFinalizedFunction onFinalized) override {
    if (!pages.seal())
      return onFinalized(llvm::errorCodeToError(std::error_code(errno, std::generic_category())));
    auto atEnd = orc::shared::runFinalizeActions(graph.allocActions());
    if (!atEnd)
      return onFinalized(atEnd.takeError());
    auto *image = new Finalized{std::move(pages), std::move(*atEnd)};
    onFinalized(jl::JITLinkMemoryManager::FinalizedAlloc(orc::ExecutorAddr::fromPtr(image)));
  }

private:
  jl::LinkGraph &graph;
  Pages pages;
};

llvm::Expected<Zone> zoneOf(orc::MemProt protection) {
  auto has = [=](orc::MemProt flag) {
    return (static_cast<unsigned>(protection) & static_cast<unsigned>(flag)) != 0;
  };
  if (!has(orc::MemProt::Exec))
    return has(orc::MemProt::Write) ? Zone::ReadWrite : Zone::ReadOnly;
  if (has(orc::MemProt::Write))
    return llvm::createStringError("it has a section that is writable and executable");
  return Zone::Code;
}

/// Where each segment of a graph goes, from the beginning of its zone. Segments of one zone share
/// pages.
class Layout {
public:
  static llvm::Expected<Layout> of(jl::BasicLayout &segments) {
    Layout layout;
    for (auto &[group, segment] : segments.segments()) {
      auto zone = zoneOf(group.getMemProt());
      if (!zone)
        return zone.takeError();
      if (segment.Alignment.value() > pageSize())
        return llvm::createStringError("it has a section aligned to more than a page");
      size_t &end = layout.sizes[static_cast<size_t>(*zone)];
      size_t begin = llvm::alignTo(end, segment.Alignment);
      layout.places.push_back({&segment, *zone, begin});
      // JITLink takes no null for the place of nothing, such as that of an array without elements.
      end = begin + std::max<uint64_t>(segment.ContentSize + segment.ZeroFillSize, 1);
    }
    return layout;
  }

  void apply(const Pages &pages) const {
    for (const Place &place : places) {
      place.segment->WorkingMem = pages.begin(place.zone) + place.offset;
      place.segment->Addr = orc::ExecutorAddr::fromPtr(place.segment->WorkingMem);
    }
  }

  ZoneSizes sizes = {};

private:
  struct Place {
    jl::BasicLayout::Segment *segment;
    Zone zone;
    size_t offset;
  };

  llvm::SmallVector<Place, 4> places;
};

Finalized *finalized(orc::ExecutorAddr address) { return address.toPtr<Finalized *>(); }

} // namespace

CodeMemory &CodeMemory::instance() {
  static auto *memory = new CodeMemory();
  return *memory;
}

void CodeMemory::allocate(const jl::JITLinkDylib *, jl::LinkGraph &graph,
                          OnAllocatedFunction onAllocated) {
  jl::BasicLayout segments(graph);
  auto layout = Layout::of(segments);
  if (!layout)
    return onAllocated(layout.takeError());
  auto pages = Pages::allocate(layout->sizes);
  if (!pages)
    return onAllocated(llvm::errorCodeToError(std::error_code(errno, std::generic_category())));
  layout->apply(*pages);
  if (llvm::Error error = segments.apply())
    return onAllocated(std::move(error));
  onAllocated(std::make_unique<InFlight>(graph, std::move(*pages)));
}

void CodeMemory::deallocate(std::vector<FinalizedAlloc> images, OnDeallocatedFunction onDone) {
  llvm::Error errors = llvm::Error::success();
  for (FinalizedAlloc &each : images) {
    std::unique_ptr<Finalized> image(finalized(each.release()));
    errors = llvm::joinErrors(std::move(errors), orc::shared::runDeallocActions(image->atEnd));
  }
  onDone(std::move(errors));
}

const Pages &CodeMemory::pagesOf(const FinalizedAlloc &image) {
  return finalized(image.getAddress())->pages;
}

} // namespace twinjit
