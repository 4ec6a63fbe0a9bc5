// The next four hashes from the one before them, so that only one in four waits for another.
#include "frame.h"

struct Rolling4 {
  template <uint32_t window, class Take>
  static void hash(const int8_t *text, uint64_t windows, Take &take) {
    constexpr uint32_t out = power(window);
    uint32_t hash = 0;
    for (uint32_t j = 0; j < window; j++) hash = hash * base + uint32_t(text[j]);
    take(0, hash);
    // What a place adds: the byte that enters, without the one that leaves.
    auto change = [=](uint64_t i) {
      return uint32_t(text[i + window - 1]) - out * uint32_t(text[i - 1]);
    };
    uint64_t i = 1;
    for (; i + 4 <= windows; i += 4) {
      uint32_t first = change(i), second = first * base + change(i + 1);
      uint32_t third = second * base + change(i + 2), fourth = third * base + change(i + 3);
      take(i, hash * base + first);
      take(i + 1, hash * power(2) + second);
      take(i + 2, hash * power(3) + third);
      hash = hash * power(4) + fourth;
      take(i + 3, hash);
    }
    for (; i < windows; i++) {
      hash = hash * base + change(i);
      take(i, hash);
    }
  }
};

HASH_CONTESTANT("rolling, four at once", Rolling4);
