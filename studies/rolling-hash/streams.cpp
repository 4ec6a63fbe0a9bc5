// Four parts of the text rolled side by side: while one hash waits for its product, three others go on.
#include "frame.h"

struct Streams {
  template <uint32_t window, class Take>
  static void hash(const int8_t *text, uint64_t windows, Take &take) {
    constexpr uint32_t out = power(window);
    constexpr int parts = 4;
    uint64_t each = windows / parts;
    uint32_t hash[parts] = {};
    if (each > 0)
      for (int part = 0; part < parts; part++) {
        for (uint32_t j = 0; j < window; j++)
          hash[part] = hash[part] * base + uint32_t(text[part * each + j]);
        take(part * each, hash[part]);
      }
    for (uint64_t i = 1; i < each; i++)
      for (int part = 0; part < parts; part++) {
        const int8_t *at = text + part * each + i;
        hash[part] = hash[part] * base + uint32_t(at[window - 1]) - out * uint32_t(at[-1]);
        take(part * each + i, hash[part]);
      }
    // What four does not divide.
    for (uint64_t i = parts * each; i < windows; i++) {
      uint32_t last = 0;
      for (uint32_t j = 0; j < window; j++) last = last * base + uint32_t(text[i + j]);
      take(i, last);
    }
  }
};

HASH_CONTESTANT("rolling, four streams", Streams);
