/// Long division; Knuth, The Art of Computer Programming 2, 4.3.1, algorithm D.

#include "sql/wide.h"

using namespace twinjit::sql;

Wide Wide::shifted(int bits) const {
  Wide result;
  uint64_t carry = 0;
  for (std::size_t index = 0; index < words.size(); ++index) {
    carry |= static_cast<uint64_t>(words[index]) << bits;
    result.words[index] = static_cast<uint32_t>(carry);
    carry >>= 32;
  }
  return result;
}

void Wide::shiftDown(int bits) {
  for (std::size_t index = 0; index < words.size(); ++index) {
    uint64_t above = index + 1 < words.size() ? words[index + 1] : 0;
    uint64_t both = (above << 32) | words[index];
    words[index] = static_cast<uint32_t>(both >> bits);
  }
}

uint32_t Wide::divideByWord(uint32_t divisor, Wide &quotient) {
  uint64_t rest = 0;
  for (int index = limbs; index >= 0; --index) {
    uint64_t part = (rest << 32) | words[index];
    quotient.words[index] = static_cast<uint32_t>(part / divisor);
    rest = part % divisor;
  }
  return static_cast<uint32_t>(rest);
}

/// Guesses a digit of a quotient, which is at most by one too large.
uint32_t Wide::guessed(const Wide &divisor, int place, int count) const {
  constexpr uint64_t base = uint64_t{1} << 32;
  uint64_t top = (static_cast<uint64_t>(words[place + count]) << 32) | words[place + count - 1];
  uint64_t guess = top / divisor.words[count - 1];
  uint64_t rest = top % divisor.words[count - 1];
  while (guess >= base ||
         guess * divisor.words[count - 2] > ((rest << 32) | words[place + count - 2])) {
    --guess;
    rest += divisor.words[count - 1];
    if (rest >= base)
      break;
  }
  return static_cast<uint32_t>(guess);
}

/// Takes a multiple of the divisor away; says whether it was too large.
bool Wide::subtractProduct(const Wide &divisor, uint32_t factor, int place, int count) {
  uint64_t carry = 0;
  int64_t borrow = 0;
  for (int index = 0; index <= count; ++index) {
    carry += static_cast<uint64_t>(factor) * (index < count ? divisor.words[index] : 0);
    int64_t difference = static_cast<int64_t>(words[place + index]) -
                         static_cast<int64_t>(carry & 0xffffffff) + borrow;
    words[place + index] = static_cast<uint32_t>(difference);
    borrow = difference >> 32;
    carry >>= 32;
  }
  return borrow != 0;
}

void Wide::addBack(const Wide &divisor, int place, int count) {
  uint64_t carry = 0;
  for (int index = 0; index <= count; ++index) {
    carry +=
        static_cast<uint64_t>(words[place + index]) + (index < count ? divisor.words[index] : 0);
    words[place + index] = static_cast<uint32_t>(carry);
    carry >>= 32;
  }
}

Wide Wide::divide(const Wide &divisor) {
  Wide quotient;
  int count = divisor.length();
  if (count == 1) {
    uint32_t rest = divideByWord(divisor.words[0], quotient);
    *this = Wide(rest);
    return quotient;
  }
  if (compare(divisor) < 0)
    return quotient;
  // So that the divisor's highest bit is set, which makes guesses good.
  int bits = __builtin_clz(divisor.words[count - 1]);
  Wide scaled = divisor.shifted(bits);
  *this = shifted(bits);
  for (int place = limbs - count; place >= 0; --place) {
    uint32_t digit = guessed(scaled, place, count);
    if (subtractProduct(scaled, digit, place, count)) {
      --digit;
      addBack(scaled, place, count);
    }
    quotient.words[place] = digit;
  }
  shiftDown(bits);
  return quotient;
}
