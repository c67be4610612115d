/// States of min and max of texts.

#include "sql/arena.h"
#include "sql/state_columns.h"

#include <algorithm>
#include <cstring>
#include <new>

using namespace twinjit::sql;

namespace {

template <bool isGreatest> class ExtremeTexts final : public States {
public:
  void resize(size_t groups) override {
    texts.resize(groups, Text{"", 0});
    capacities.resize(groups);
    present.resize(groups);
  }

  void update(const uint32_t *groups, int64_t rows, Column column) override {
    eachValid(groups, rows, column.validity,
              [&](uint32_t group, int64_t row) { take(group, column.at<Text>(row)); });
  }

  void merge(const States &others, const uint32_t *groups) override {
    const auto &theirs = static_cast<const ExtremeTexts &>(others);
    for (size_t group = 0; group < theirs.texts.size(); ++group)
      if (theirs.present[group])
        take(groups[group], theirs.texts[group]);
  }

  std::vector<Column> columns() const override { return {{rawOf(texts), present.data()}}; }
  std::vector<Kind> kinds() const override { return {Kind::Text}; }

  void save(Packer &packer) const override {
    packer.putAll(present);
    for (const Text &text : texts)
      packer.putBytes(text.data, text.length);
  }

  void load(Unpacker &unpacker, size_t groups) override {
    resize(groups);
    std::vector<uint8_t> there = unpacker.takeAll<uint8_t>(groups);
    for (size_t group = 0; group < groups; ++group) {
      std::string_view text = unpacker.takeBytes();
      if (there[group])
        take(group, {text.data(), static_cast<int64_t>(text.size())});
    }
  }

  int64_t bytes() const override {
    return arena.bytes() + bytesOfAll(texts) + bytesOfAll(capacities) + bytesOfAll(present);
  }

private:
  void take(size_t group, Text text) {
    if (present[group] && !isBetter(text, texts[group]))
      return;
    present[group] = 1;
    if (text.length > capacities[group] || capacities[group] == 0) {
      // Twice as much each time, so that what is left behind is no more than what is used.
      int64_t capacity = std::max(text.length, 2 * capacities[group]);
      texts[group].data = arena.allocate(capacity);
      if (!texts[group].data)
        throw std::bad_alloc();
      capacities[group] = capacity;
    }
    if (text.length)
      std::memcpy(const_cast<char *>(texts[group].data), text.data, text.length);
    texts[group].length = text.length;
  }

  static bool isBetter(Text text, Text known) {
    int64_t common = std::min(text.length, known.length);
    int order = common ? std::memcmp(text.data, known.data, common) : 0;
    bool isLess = order < 0 || (order == 0 && text.length < known.length);
    bool isGreater = order > 0 || (order == 0 && text.length > known.length);
    return isGreatest ? isGreater : isLess;
  }

  std::vector<Text> texts;
  std::vector<int64_t> capacities;
  std::vector<uint8_t> present;
  Arena arena;
};

} // namespace

std::unique_ptr<States> twinjit::sql::makeExtremeTexts(bool isGreatest) {
  if (isGreatest)
    return std::make_unique<ExtremeTexts<true>>();
  return std::make_unique<ExtremeTexts<false>>();
}
