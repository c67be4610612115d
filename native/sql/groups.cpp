#include "sql/groups.h"

#include <cstring>
#include <new>
#include <random>

using namespace twinjit::sql;

namespace {

uint64_t randomSeed() {
  std::random_device device;
  return (static_cast<uint64_t>(device()) << 32) | device();
}

constexpr size_t smallest = 512;

} // namespace

GroupTable::GroupTable(std::vector<Kind> kinds)
    : writer(std::move(kinds)), seed(randomSeed()), slots(smallest, Slot{none, 0}),
      rowWords(writer.width() * blockRows), values(writer.kinds().size()),
      validities(writer.kinds().size()) {
  for (size_t key = 0; key < writer.kinds().size(); ++key)
    if (writer.kinds()[key] == Kind::Text)
      texts.push_back(key);
}

int64_t GroupTable::bytes() const {
  int64_t total = arena.bytes() + slots.capacity() * sizeof(Slot);
  total += (rowWords.capacity() + groupWords.capacity()) * sizeof(uint64_t);
  for (size_t key = 0; key < values.size(); ++key)
    total += values[key].capacity() + validities[key].capacity();
  return total;
}

template <bool adds> void GroupTable::look(const Column *columns, int64_t rows, uint32_t *numbers) {
  writer.write(columns, rows, rowWords.data());
  size_t width = writer.width();
  uint64_t hashes[blockRows];
  for (int64_t row = 0; row < rows; ++row)
    hashes[row] = hashOf(rowWords.data() + row * width, width, seed);
  constexpr int64_t ahead = 16; // rows whose slots are fetched before they are needed
  for (int64_t row = 0; row < rows; ++row) {
    if (row + ahead < rows)
      __builtin_prefetch(&slots[hashes[row + ahead] & (slots.size() - 1)]);
    numbers[row] = lookOne<adds>(columns, row, hashes[row]);
  }
}

template <bool adds>
uint32_t GroupTable::lookOne(const Column *columns, int64_t row, uint64_t hash) {
  auto tag = static_cast<uint32_t>(hash >> 32);
  size_t mask = slots.size() - 1;
  for (size_t place = hash & mask;; place = (place + 1) & mask) {
    Slot &slot = slots[place];
    if (slot.tag == tag && slot.number != none && isEqual(slot.number, columns, row))
      return slot.number;
    if (slot.number == none) {
      if constexpr (!adds)
        return none;
      uint32_t number = add(columns, row);
      slot = {number, tag};
      if (count > slots.size() / 2)
        grow();
      return number;
    }
  }
}

bool GroupTable::isEqual(uint32_t number, const Column *columns, int64_t row) const {
  size_t width = writer.width();
  const uint64_t *ours = groupWords.data() + number * width;
  const uint64_t *theirs = rowWords.data() + row * width;
  uint64_t difference = 0;
  for (size_t index = 0; index < width; ++index)
    difference |= ours[index] ^ theirs[index];
  return difference == 0 && (texts.empty() || haveEqualTexts(number, columns, row));
}

/// Compares what is not in the words.
bool GroupTable::haveEqualTexts(uint32_t number, const Column *columns, int64_t row) const {
  for (size_t key : texts) {
    if (!columns[key].validity[row])
      continue;
    Text text = columns[key].at<Text>(row);
    if (text.length <= inlineText)
      continue;
    Text known = this->key(key).at<Text>(number);
    if (known.length != text.length || std::memcmp(known.data, text.data, text.length) != 0)
      return false;
  }
  return true;
}

uint32_t GroupTable::add(const Column *columns, int64_t row) {
  if (count == none - 1)
    throw std::bad_alloc();
  size_t width = writer.width();
  const uint64_t *words = rowWords.data() + row * width;
  groupWords.insert(groupWords.end(), words, words + width);
  for (size_t key = 0; key < values.size(); ++key) {
    int64_t size = bytesOf(writer.kinds()[key]);
    bool isValid = columns[key].validity[row];
    static constexpr char zeros[16] = {};
    const char *value = isValid ? columns[key].values + row * size : zeros;
    Text kept{"", 0};
    if (writer.kinds()[key] == Kind::Text) {
      if (isValid)
        std::memcpy(&kept, value, sizeof(kept));
      char *copy = arena.allocate(kept.length);
      if (!copy)
        throw std::bad_alloc();
      if (kept.length)
        std::memcpy(copy, kept.data, kept.length);
      kept.data = copy;
      value = reinterpret_cast<const char *>(&kept);
    }
    values[key].insert(values[key].end(), value, value + size);
    validities[key].push_back(isValid);
  }
  return count++;
}

void GroupTable::grow() {
  std::vector<Slot> larger(slots.size() * 2, Slot{none, 0});
  size_t width = writer.width(), mask = larger.size() - 1;
  for (uint32_t number = 0; number < count; ++number) {
    uint64_t hash = hashOf(groupWords.data() + number * width, width, seed);
    size_t place = hash & mask;
    while (larger[place].number != none)
      place = (place + 1) & mask;
    larger[place] = {number, static_cast<uint32_t>(hash >> 32)};
  }
  slots.swap(larger);
}

template void GroupTable::look<true>(const Column *, int64_t, uint32_t *);
template void GroupTable::look<false>(const Column *, int64_t, uint32_t *);
