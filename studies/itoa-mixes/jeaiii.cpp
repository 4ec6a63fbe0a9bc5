// James Edward Anhalt III's method, written anew: a number becomes a fraction of fixed point, whose
// whole part is the first two digits, and each product by 100 brings the next two. A branch for each
// two lengths; a first digit of 0 is written over.
#include "lines.h"
#include <cstring>

struct Pairs {
  char all[100][2];   // 00 to 99
  char first[100][2]; // 0 to 9 as one digit and what may be anything, then 10 to 99
  constexpr Pairs() : all(), first() {
    for (int i = 0; i < 100; i++) {
      all[i][0] = first[i][0] = (char)('0' + i / 10);
      all[i][1] = first[i][1] = (char)('0' + i % 10);
      if (i < 10) first[i][0] = (char)('0' + i);
    }
  }
};

static constexpr Pairs pairs;

// Writes the pairs of digits behind the point of a fraction of so many bits.
template <int count, int bits> static inline char *next(char *out, uint64_t fraction) {
  for (int i = 0; i < count; i++) {
    fraction = (fraction & ((1ull << bits) - 1)) * 100;
    memcpy(out, pairs.all[fraction >> bits], 2);
    out += 2;
  }
  return out;
}

// Writes a fraction whose whole part is the first one or two digits.
template <int count, int bits>
static inline char *from_first(char *out, uint64_t fraction, bool is_one) {
  memcpy(out, pairs.first[fraction >> bits], 2);
  return next<count, bits>(out + 2 - is_one, fraction);
}

// Writes a number below 2^32.
static inline char *below_32_bits(char *out, uint64_t number) {
  if (number < 100) return from_first<0, 32>(out, number << 32, number < 10);
  if (number < 1000000) {
    if (number < 10000) {
      return from_first<1, 32>(out, number * ((1ull << 32) / 100 + 1), number < 1000);
    }
    return from_first<2, 32>(out, number * ((1ull << 32) / 10000 + 1), number < 100000);
  }
  if (number < 100000000) {
    uint64_t fraction = (number * ((1ull << 48) / 1000000 + 1) >> 16) + 1;
    return from_first<3, 32>(out, fraction, number < 10000000);
  }
  return from_first<4, 57>(out, number * ((1ull << 57) / 100000000 + 1), number < 1000000000);
}

// Writes all eight digits of a number.
static inline char *eight(char *out, uint64_t number) {
  uint64_t fraction = (number * ((1ull << 48) / 1000000 + 1) >> 16) + 1;
  memcpy(out, pairs.all[fraction >> 32], 2);
  return next<3, 32>(out + 2, fraction);
}

struct Put {
  static char *put(char *out, uint64_t number) {
    if (number >> 32 == 0) return below_32_bits(out, number);
    uint64_t high = number / 100000000, low = number % 100000000;
    if (high >> 32 == 0) return eight(below_32_bits(out, high), low);
    out = below_32_bits(out, high / 100000000);
    return eight(eight(out, high % 100000000), low);
  }
};

LINES_CONTESTANT("jeaiii", Put);
