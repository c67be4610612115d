/// Whole numbers of more than 128 bits, for what lies between a numeric and the next.

#ifndef TWINJIT_SQL_WIDE_H
#define TWINJIT_SQL_WIDE_H

#include <array>
#include <cstddef>
#include <cstdint>

namespace twinjit::sql {

using Unsigned = unsigned __int128;

/// A whole number of at most 512 bits, not negative. Who multiplies sees to it that it fits.
class Wide {
public:
  static constexpr int limbs = 16; // of 32 bits, the lowest first

  Wide() = default;
  explicit Wide(Unsigned value) {
    for (int index = 0; index < 4; ++index, value >>= 32)
      words[index] = static_cast<uint32_t>(value);
  }

  bool fitsUnsigned() const { return length() <= 4; }

  /// The lowest 128 bits.
  Unsigned lowest() const {
    Unsigned value = 0;
    for (int index = 3; index >= 0; --index)
      value = (value << 32) | words[index];
    return value;
  }

  void multiply(uint32_t factor) {
    uint64_t carry = 0;
    for (uint32_t &word : words) {
      carry += static_cast<uint64_t>(word) * factor;
      word = static_cast<uint32_t>(carry);
      carry >>= 32;
    }
  }

  void multiplyByTen(int times) {
    for (; times >= 9; times -= 9)
      multiply(1'000'000'000);
    uint32_t rest = 1;
    for (; times > 0; --times)
      rest *= 10;
    multiply(rest);
  }

  /// Which is larger: -1, 0 or 1.
  int compare(const Wide &other) const {
    for (int index = limbs - 1; index >= 0; --index)
      if (words[index] != other.words[index])
        return words[index] < other.words[index] ? -1 : 1;
    return 0;
  }

  /// Divides by what is not zero; gives the quotient, and leaves the rest.
  Wide divide(const Wide &divisor);

  /// Twice the number.
  Wide doubled() const { return shifted(1); }

private:
  int length() const {
    int count = limbs;
    while (count > 0 && words[count - 1] == 0)
      --count;
    return count;
  }

  Wide shifted(int bits) const;
  void shiftDown(int bits);
  uint32_t divideByWord(uint32_t divisor, Wide &quotient);
  uint32_t guessed(const Wide &divisor, int place, int count) const;
  bool subtractProduct(const Wide &divisor, uint32_t factor, int place, int count);
  void addBack(const Wide &divisor, int place, int count);

  std::array<uint32_t, limbs + 1> words{};
};

} // namespace twinjit::sql

#endif // TWINJIT_SQL_WIDE_H
