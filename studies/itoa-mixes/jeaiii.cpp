// James Edward Anhalt III's method, written anew: a fixed-point fraction whose upper word is the
// first two digits, and each product by 100 brings the next two. A branch for each length.
#include "lines.h"
#include <cstring>

static const char pairs[] =
    "00010203040506070809101112131415161718192021222324252627282930313233343536373839"
    "40414243444546474849505152535455565758596061626364656667686970717273747576777879"
    "8081828384858687888990919293949596979899";

static inline char *pair(char *out, uint64_t number) {
  memcpy(out, pairs + 2 * number, 2);
  return out + 2;
}

// The first one or two digits.
static inline char *first(char *out, uint64_t number) {
  if (number < 10) {
    *out = (char)('0' + number);
    return out + 1;
  }
  return pair(out, number);
}

// The next pairs of a fraction of 32 bits.
template <int count> static inline char *next(char *out, uint64_t fraction) {
  for (int i = 0; i < count; i++) {
    fraction = (fraction & 0xffffffff) * 100;
    out = pair(out, fraction >> 32);
  }
  return out;
}

// A number below 10^8, without leading zeros.
static inline char *below_eight(char *out, uint32_t number) {
  if (number < 100) return first(out, number);
  if (number < 10000) {
    uint64_t fraction = number * ((1ull << 32) / 100 + 1);
    return next<1>(first(out, fraction >> 32), fraction);
  }
  if (number < 1000000) {
    uint64_t fraction = number * ((1ull << 32) / 10000 + 1);
    return next<2>(first(out, fraction >> 32), fraction);
  }
  uint64_t fraction = (number * ((1ull << 48) / 1000000 + 1) >> 16) + 1;
  return next<3>(first(out, fraction >> 32), fraction);
}

// All eight digits of one.
static inline char *eight(char *out, uint32_t number) {
  uint64_t fraction = (number * ((1ull << 48) / 1000000 + 1) >> 16) + 1;
  return next<3>(pair(out, fraction >> 32), fraction);
}

struct Put {
  static char *put(char *out, uint64_t number) {
    if (number < 100000000) return below_eight(out, (uint32_t)number);
    uint64_t high = number / 100000000;
    uint32_t low = (uint32_t)(number % 100000000);
    if (high < 100000000) {
      out = below_eight(out, (uint32_t)high);
    } else {
      out = below_eight(out, (uint32_t)(high / 100000000));
      out = eight(out, (uint32_t)(high % 100000000));
    }
    return eight(out, low);
  }
};

LINES_CONTESTANT("jeaiii", Put);
