// The hash before, a byte more and a byte less.
#include "frame.h"

struct Rolling {
  template <uint32_t window, class Take>
  static void hash(const int8_t *text, uint64_t windows, Take &take) {
    constexpr uint32_t out = power(window);
    uint32_t hash = 0;
    for (uint32_t j = 0; j < window; j++) hash = hash * base + uint32_t(text[j]);
    take(0, hash);
    for (uint64_t i = 1; i < windows; i++) {
      hash = hash * base + uint32_t(text[i + window - 1]) - out * uint32_t(text[i - 1]);
      take(i, hash);
    }
  }
};

HASH_CONTESTANT("rolling", Rolling);
