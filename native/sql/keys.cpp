#include "sql/keys.h"

#include <cmath>
#include <cstring>
#include <map>
#include <random>

using namespace twinjit::sql;

namespace {

/// Multiplies to 128 bits, and folds them.
uint64_t mixed(uint64_t left, uint64_t right) {
  unsigned __int128 product = static_cast<unsigned __int128>(left) * right;
  return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
}

// Odd, with as many bits set as not; any such would do.
constexpr uint64_t firstFactor = 0x9e3779b97f4a7c15, secondFactor = 0xd1b54a32d192ed03;

uint64_t loaded(const char *bytes, int64_t count) {
  uint64_t word = 0;
  std::memcpy(&word, bytes, count);
  return word;
}

/// Another one in each process, so that nobody can choose texts whose hashes are the same.
const uint64_t textSeed = [] {
  std::random_device device;
  return (static_cast<uint64_t>(device()) << 32) | device();
}();

uint64_t hashOfText(const char *bytes, int64_t length) {
  uint64_t hash = textSeed ^ (static_cast<uint64_t>(length) * secondFactor);
  for (; length >= 8; bytes += 8, length -= 8)
    hash = mixed(hash ^ loaded(bytes, 8), firstFactor);
  return mixed(hash ^ loaded(bytes, length), secondFactor);
}

// What null is: beyond all narrower integers, a NaN that is not the one, a text's length and a
// numeric that there is not.
constexpr uint64_t nullInteger = uint64_t{1} << 40, nullFloat = ~uint64_t{0},
                   nullText = uint64_t{0xfe} << 56, longText = uint64_t{0xff} << 56;
constexpr Numeric nullNumeric = static_cast<Numeric>(static_cast<unsigned __int128>(1) << 127);

template <typename T> uint64_t wordOf(T value) {
  if constexpr (std::is_floating_point_v<T>) {
    double wide = std::isnan(value) ? std::nan("") : value == 0 ? 0.0 : value;
    uint64_t word;
    std::memcpy(&word, &wide, sizeof(word));
    return word;
  } else {
    return static_cast<uint64_t>(static_cast<int64_t>(value));
  }
}

template <typename T> void writeWords(Column column, int64_t rows, uint64_t *into, size_t width) {
  constexpr uint64_t null = std::is_floating_point_v<T> ? nullFloat : nullInteger;
  for (int64_t row = 0; row < rows; ++row)
    into[row * width] = column.validity[row] ? wordOf(column.at<T>(row)) : null;
}

void writeInt8s(Column column, int64_t rows, uint64_t *into, size_t width) {
  for (int64_t row = 0; row < rows; ++row) {
    bool isValid = column.validity[row];
    into[row * width] = isValid ? column.at<uint64_t>(row) : 0;
    into[row * width + 1] = isValid;
  }
}

void writeNumerics(Column column, int64_t rows, uint64_t *into, size_t width) {
  for (int64_t row = 0; row < rows; ++row) {
    Numeric value = column.validity[row] ? column.at<Numeric>(row) : nullNumeric;
    into[row * width] = static_cast<uint64_t>(value);
    into[row * width + 1] = static_cast<uint64_t>(value >> 64);
  }
}

uint64_t wordOfText(Text text) {
  auto length = static_cast<uint64_t>(text.length);
  if (length > inlineText)
    return hashOfText(text.data, text.length) | longText;
  uint64_t word = length << 56;
  for (uint64_t place = 0; place < length; ++place)
    word |= static_cast<uint64_t>(static_cast<uint8_t>(text.data[place])) << (8 * place);
  return word;
}

void writeTexts(Column column, int64_t rows, uint64_t *into, size_t width) {
  for (int64_t row = 0; row < rows; ++row)
    into[row * width] = column.validity[row] ? wordOfText(column.at<Text>(row)) : nullText;
}

void writeKey(Kind kind, Column column, int64_t rows, uint64_t *into, size_t width) {
  switch (kind) {
  case Kind::Bool:
    return writeWords<uint8_t>(column, rows, into, width);
  case Kind::Int2:
    return writeWords<int16_t>(column, rows, into, width);
  case Kind::Int4:
    return writeWords<int32_t>(column, rows, into, width);
  case Kind::Int8:
    return writeInt8s(column, rows, into, width);
  case Kind::Float4:
    return writeWords<float>(column, rows, into, width);
  case Kind::Float8:
    return writeWords<double>(column, rows, into, width);
  case Kind::Numeric:
    return writeNumerics(column, rows, into, width);
  case Kind::Text:
    return writeTexts(column, rows, into, width);
  }
}

size_t widthOf(Kind kind) { return kind == Kind::Numeric || kind == Kind::Int8 ? 2 : 1; }

} // namespace

std::optional<Kind> twinjit::sql::kindOf(const std::string &name) {
  static const std::map<std::string, Kind> kinds{
      {"bool", Kind::Bool},     {"int2", Kind::Int2},     {"int4", Kind::Int4},
      {"date", Kind::Int4},     {"int8", Kind::Int8},     {"timestamp", Kind::Int8},
      {"float4", Kind::Float4}, {"float8", Kind::Float8}, {"numeric", Kind::Numeric},
      {"text", Kind::Text},
  };
  auto found = kinds.find(name);
  return found == kinds.end() ? std::nullopt : std::optional(found->second);
}

KeyWriter::KeyWriter(std::vector<Kind> kinds) : kindsOfKeys(std::move(kinds)), words(0) {
  for (Kind kind : kindsOfKeys)
    words += widthOf(kind);
}

void KeyWriter::write(const Column *columns, int64_t rows, uint64_t *into) const {
  size_t place = 0;
  for (size_t key = 0; key < kindsOfKeys.size(); ++key) {
    writeKey(kindsOfKeys[key], columns[key], rows, into + place, words);
    place += widthOf(kindsOfKeys[key]);
  }
}

uint64_t twinjit::sql::hashOf(const uint64_t *words, size_t count, uint64_t seed) {
  uint64_t hash = seed;
  size_t index = 0;
  for (; index + 1 < count; index += 2)
    hash = mixed(words[index] ^ hash, words[index + 1] ^ firstFactor);
  if (index < count)
    hash = mixed(words[index] ^ hash, firstFactor);
  return mixed(hash, secondFactor);
}
