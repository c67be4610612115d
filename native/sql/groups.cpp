#include "sql/groups.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <random>
#include <stdexcept>

using namespace twinjit::sql;

namespace {

uint64_t randomWord() {
  std::random_device device;
  return (static_cast<uint64_t>(device()) << 32) | device();
}

constexpr size_t smallest = 512;

/// With more slots than this, they and the groups' keys are fetched before they are needed.
constexpr size_t nearSlots = size_t{1} << 14;
constexpr int64_t slotsAhead = 48, wordsAhead = 24;

/// Multiplies to 128 bits, and folds them.
uint64_t mixed(uint64_t left, uint64_t right) {
  unsigned __int128 product = static_cast<unsigned __int128>(left) * right;
  return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
}

/// Copies a value of 1, 2, 4, 8 or 16 bytes.
void copyValue(char *to, const char *from, int64_t size) {
  switch (size) {
  case 1:
    *to = *from;
    break;
  case 2:
    std::memcpy(to, from, 2);
    break;
  case 4:
    std::memcpy(to, from, 4);
    break;
  case 8:
    std::memcpy(to, from, 8);
    break;
  default:
    std::memcpy(to, from, 16);
  }
}

} // namespace

GroupTable::GroupTable(std::vector<Kind> kinds)
    : writer(std::move(kinds)), seed(randomWord()), factor(randomWord() | 1),
      slots(smallest, Slot{none, 0}), rowWords(writer.width() * blockRows),
      values(writer.kinds().size()), validities(writer.kinds().size()) {
  if (writer.kinds().empty())
    throw std::invalid_argument("a key has one part or more");
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

template <size_t fixed> void GroupTable::hash(Rows &rows) const {
  const uint64_t *words = rows.words;
  size_t width = writer.width();
  for (int64_t row = 0; row < rows.count; ++row) {
    uint64_t found;
    if constexpr (fixed == 1)
      found = mixed(words[row] ^ seed, factor);
    else if constexpr (fixed == 2)
      found = mixed(words[2 * row] ^ seed, words[2 * row + 1] ^ factor);
    else
      found = hashOf(words + row * width, width, seed);
    rows.hashes[row] = static_cast<uint32_t>(found);
  }
}

/// Fetches what rows further on will need into the cache.
template <size_t fixed>
[[gnu::always_inline]] inline void GroupTable::fetch(const Rows &rows, int64_t row) const {
  if (slots.size() <= nearSlots)
    return;
  size_t mask = slots.size() - 1;
  if (row + slotsAhead < rows.count)
    __builtin_prefetch(&slots[rows.hashes[row + slotsAhead] & mask]);
  if (row + wordsAhead < rows.count) {
    uint32_t hash = rows.hashes[row + wordsAhead];
    size_t place = hash & mask;
    while (slots[place].number != none && slots[place].hash != hash)
      place = (place + 1) & mask;
    size_t number = slots[place].number;
    if (number != none)
      __builtin_prefetch(groupWords.data() + number * (fixed ? fixed : writer.width()));
  }
}

/// Gives the place of a row's key, or else the free one that it belongs in.
template <size_t fixed>
[[gnu::always_inline]] inline size_t GroupTable::placeOf(const Rows &rows, int64_t row) const {
  size_t mask = slots.size() - 1;
  uint32_t hash = rows.hashes[row];
  for (size_t place = hash & mask;; place = (place + 1) & mask) {
    Slot slot = slots[place];
    if (slot.number == none || (slot.hash == hash && isEqual<fixed>(slot.number, rows, row)))
      return place;
  }
}

template <size_t fixed>
[[gnu::always_inline]] inline bool GroupTable::isEqual(uint32_t number, const Rows &rows,
                                                       int64_t row) const {
  size_t width = fixed ? fixed : writer.width();
  const uint64_t *ours = groupWords.data() + number * width;
  const uint64_t *theirs = rows.words + row * width;
  uint64_t difference = 0;
  for (size_t index = 0; index < width; ++index)
    difference |= ours[index] ^ theirs[index];
  return difference == 0 && (!hasLongTexts || haveEqualTexts(number, rows, row));
}

/// Compares what is not in the words.
bool GroupTable::haveEqualTexts(uint32_t number, const Rows &rows, int64_t row) const {
  for (size_t key : texts) {
    if (!rows.columns[key].validity[row])
      continue;
    Text text = rows.columns[key].at<Text>(row);
    if (text.length <= inlineText)
      continue;
    Text known = this->key(key).at<Text>(number);
    if (known.length != text.length || std::memcmp(known.data, text.data, text.length) != 0)
      return false;
  }
  return true;
}

template <size_t fixed> void GroupTable::findAll(Rows &rows, uint32_t *numbers) {
  hash<fixed>(rows);
  for (int64_t row = 0; row < rows.count; ++row) {
    fetch<fixed>(rows, row);
    size_t place = placeOf<fixed>(rows, row);
    uint32_t number = slots[place].number;
    numbers[row] = number == none ? add(place, rows, row) : number;
  }
}

template <size_t fixed> void GroupTable::lookUpAll(Rows &rows, uint32_t *numbers) const {
  hash<fixed>(rows);
  for (int64_t row = 0; row < rows.count; ++row) {
    fetch<fixed>(rows, row);
    numbers[row] = slots[placeOf<fixed>(rows, row)].number;
  }
}

void GroupTable::find(const Column *columns, int64_t rows, uint32_t *numbers) {
  writer.write(columns, rows, rowWords.data());
  Rows block{columns, rows, rowWords.data(), {}};
  if (writer.width() == 1)
    findAll<1>(block, numbers);
  else if (writer.width() == 2)
    findAll<2>(block, numbers);
  else
    findAll<0>(block, numbers);
}

void GroupTable::lookUp(const Column *columns, int64_t rows, uint32_t *numbers,
                        std::vector<uint64_t> &words) const {
  words.resize(writer.width() * blockRows);
  writer.write(columns, rows, words.data());
  Rows block{columns, rows, words.data(), {}};
  if (writer.width() == 1)
    lookUpAll<1>(block, numbers);
  else if (writer.width() == 2)
    lookUpAll<2>(block, numbers);
  else
    lookUpAll<0>(block, numbers);
}

uint32_t GroupTable::add(size_t place, const Rows &rows, int64_t row) {
  if (count == none - 1)
    throw std::bad_alloc();
  if (count == validities[0].size())
    reserve(std::max<size_t>(blockRows, count));
  size_t width = writer.width();
  std::copy_n(rows.words + row * width, width, groupWords.data() + count * width);
  for (size_t key = 0; key < values.size(); ++key) {
    static constexpr char zeros[16] = {};
    const Column &column = rows.columns[key];
    int64_t size = bytesOf(writer.kinds()[key]);
    bool isValid = column.validity[row];
    const char *value = isValid ? column.values + row * size : zeros;
    Text text;
    if (writer.kinds()[key] == Kind::Text) {
      text = kept(column, row);
      value = reinterpret_cast<const char *>(&text);
    }
    copyValue(values[key].data() + count * size, value, size);
    validities[key][count] = isValid;
  }
  slots[place] = {count, rows.hashes[row]};
  uint32_t number = count++;
  if (count > slots.size() / 2)
    grow();
  return number;
}

/// Copies a text, which is empty where it is null.
Text GroupTable::kept(const Column &column, int64_t row) {
  Text text = column.validity[row] ? column.at<Text>(row) : Text{"", 0};
  if (text.length == 0)
    return {"", 0};
  char *copy = arena.allocate(text.length);
  if (!copy)
    throw std::bad_alloc();
  std::memcpy(copy, text.data, text.length);
  hasLongTexts |= text.length > inlineText;
  return {copy, text.length};
}

void GroupTable::reserve(size_t more) {
  size_t room = count + more;
  groupWords.resize(room * writer.width());
  for (size_t key = 0; key < values.size(); ++key)
    values[key].resize(room * bytesOf(writer.kinds()[key]));
  for (size_t key = values.size(); key-- > 0;) // the first one's size says how much room there is
    validities[key].resize(room);
}

void GroupTable::grow() {
  std::vector<Slot> larger(slots.size() * 2, Slot{none, 0});
  size_t mask = larger.size() - 1;
  for (const Slot &slot : slots) {
    if (slot.number == none)
      continue;
    size_t place = slot.hash & mask;
    while (larger[place].number != none)
      place = (place + 1) & mask;
    larger[place] = slot;
  }
  slots.swap(larger);
}
