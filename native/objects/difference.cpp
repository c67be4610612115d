#include "objects/difference.h"

#include "objects/object_file.h"

#include <algorithm>

namespace twinjit::objects {
namespace {

using Found = std::optional<Difference>;

/// Index of the first elements that differ, or the length of the shorter; nothing for equals.
template <typename Sequence> std::optional<size_t> mismatch(const Sequence &a, const Sequence &b) {
  auto [at, other] = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
  if (at == a.end() && other == b.end())
    return std::nullopt;
  return at - a.begin();
}

class Comparison {
public:
  Comparison(const ObjectFile &a, const ObjectFile &b) : a(a), b(b) {}

  Difference first() const {
    if (a.machine != b.machine || a.flags != b.flags)
      return {"machine"};
    for (size_t at = 0; at < std::min(a.sections.size(), b.sections.size()); ++at)
      if (Found found = inSections(a.sections[at], b.sections[at]))
        return *found;
    if (a.sections.size() != b.sections.size()) {
      const auto &longer = a.sections.size() > b.sections.size() ? a.sections : b.sections;
      size_t shared = std::min(a.sections.size(), b.sections.size());
      return {"sections", longer[shared].name.str()};
    }
    if (std::optional<size_t> at = mismatch(a.symbols, b.symbols))
      return inSymbols(*at);
    return {"layout"};
  }

private:
  Found inSections(const Section &mine, const Section &other) const {
    if (mine.name != other.name || mine.type != other.type || mine.flags != other.flags ||
        mine.alignment != other.alignment)
      return Difference{"sections", mine.name.str()};
    constexpr uint64_t kNone = UINT64_MAX;
    uint64_t content = mismatch(mine.content, other.content).value_or(kNone);
    if (content == kNone && mine.size != other.size)
      content = std::min(mine.size, other.size);
    uint64_t relocation = kNone;
    if (std::optional<size_t> at = mismatch(mine.relocations, other.relocations)) {
      auto offsetIn = [&](const std::vector<Relocation> &all) {
        return *at < all.size() ? all[*at].offset : kNone;
      };
      relocation = std::min(offsetIn(mine.relocations), offsetIn(other.relocations));
    }
    if (content == kNone && relocation == kNone)
      return std::nullopt;
    uint64_t offset = std::min(content, relocation);
    return Difference{content <= relocation ? "content" : "relocations", mine.name.str(),
                      functionAt(mine, other, offset), offset};
  }

  std::string functionAt(const Section &mine, const Section &other, uint64_t offset) const {
    if (const Symbol *function = a.functionAt(mine, offset))
      return function->name.str();
    const Symbol *function = b.functionAt(other, offset);
    return function ? function->name.str() : "";
  }

  /// Symbols that differ: a function's name counts where either is one.
  Difference inSymbols(size_t at) const {
    Difference found{"symbols"};
    for (const ObjectFile *object : {&b, &a}) {
      if (at >= object->symbols.size())
        continue;
      const Symbol &symbol = object->symbols[at];
      for (const Section &section : object->sections)
        if (section.place == symbol.place)
          found = {"symbols", section.name.str(), symbol.name.str(), symbol.value};
    }
    return found;
  }

  const ObjectFile &a;
  const ObjectFile &b;
};

} // namespace

Outcome<std::optional<Difference>> compare(llvm::StringRef a, llvm::StringRef b) {
  if (a == b)
    return Found();
  auto mine = ObjectFile::read(a);
  if (!mine)
    return mine.failure();
  auto other = ObjectFile::read(b);
  if (!other)
    return other.failure();
  return Found(Comparison(*mine, *other).first());
}

} // namespace twinjit::objects
