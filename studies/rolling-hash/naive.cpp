// Each window from its start.
#include "frame.h"

struct Naive {
  template <uint32_t window, class Take>
  static void hash(const int8_t *text, uint64_t windows, Take &take) {
    for (uint64_t i = 0; i < windows; i++) {
      uint32_t hash = 0;
      for (uint32_t j = 0; j < window; j++) hash = hash * base + uint32_t(text[i + j]);
      take(i, hash);
    }
  }
};

HASH_CONTESTANT("naive", Naive);
