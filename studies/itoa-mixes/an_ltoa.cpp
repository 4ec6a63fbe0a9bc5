// The source's, written anew after its words: halves by 10^4, of these by 100 and by 10, several in
// a register; numbers of two and of four digits have their own way, and leading zeros are shifted
// out.
#include "lines.h"
#include <cstring>

static const uint64_t zeros = 0x3030303030303030;

// The digits of a number below 10^4, the first in the lowest byte.
static inline uint32_t four(uint32_t number) {
  uint32_t hundreds = number * 5243 >> 19;
  uint32_t pairs = hundreds | (number - 100 * hundreds) << 16;
  uint32_t tens = pairs * 103 >> 10 & 0xf000f;
  return tens | (pairs - 10 * tens) << 8;
}

// Those of a number below 10^8.
static inline uint64_t eight(uint32_t number) {
  uint64_t high = number / 10000, halves = high | (number - 10000 * high) << 32;
  uint64_t hundreds = halves * 10486 >> 20 & 0x7f0000007f;
  uint64_t pairs = hundreds | (halves - 100 * hundreds) << 16;
  uint64_t tens = pairs * 103 >> 10 & 0xf000f000f000f;
  return tens | (pairs - 10 * tens) << 8;
}

static inline char *put_eight(char *out, uint64_t digits) {
  digits |= zeros;
  memcpy(out, &digits, 8);
  return out + 8;
}

// A number below 10^8 without its leading zeros.
static inline char *put_first(char *out, uint32_t number) {
  if (number < 100) {
    uint32_t tens = number * 103 >> 10, is_one = number < 10;
    uint32_t pair = (tens | (number - 10 * tens) << 8 | 0x3030) >> 8 * is_one;
    memcpy(out, &pair, 2);
    return out + 2 - is_one;
  }
  if (number < 10000) {
    uint32_t digits = four(number), shift = (uint32_t)__builtin_ctz(digits) & 24;
    digits = (digits | (uint32_t)zeros) >> shift;
    memcpy(out, &digits, 4);
    return out + 4 - shift / 8;
  }
  uint64_t digits = eight(number);
  uint32_t shift = (uint32_t)__builtin_ctzll(digits) & 56;
  digits = (digits | zeros) >> shift;
  memcpy(out, &digits, 8);
  return out + 8 - shift / 8;
}

struct Put {
  static char *put(char *out, uint64_t number) {
    if (number < 100000000) return put_first(out, (uint32_t)number);
    uint64_t high = number / 100000000;
    uint32_t low = (uint32_t)(number % 100000000);
    if (high < 100000000) {
      out = put_first(out, (uint32_t)high);
    } else {
      out = put_first(out, (uint32_t)(high / 100000000));
      out = put_eight(out, eight((uint32_t)(high % 100000000)));
    }
    return put_eight(out, eight(low));
  }
};

LINES_CONTESTANT("an_ltoa", Put);
