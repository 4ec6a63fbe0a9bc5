// Tables by halves of a byte for what may stand in the value of a header (Langdale and Lemire 2019,
// section 3.1.2): the upper halves 0, 1, 7 and all others are four kinds of rows, and 1 is empty.
#ifndef NIBBLES_H
#define NIBBLES_H

#include "frame.h"
#include <immintrin.h>

struct Tables {
  alignas(16) uint8_t upper[16], lower[16];
};

constexpr static Tables tables = [] {
  Tables result{};
  for (int row = 0; row < 16; row++) result.upper[row] = row == 0 ? 1 : row == 7 ? 2 : 4;
  result.upper[1] = 0;
  for (int column = 0; column < 16; column++) {
    result.lower[column] = 4;
    if (may_stand(uint8_t(column))) result.lower[column] |= 1;
    if (may_stand(uint8_t(7 * 16 + column))) result.lower[column] |= 2;
  }
  return result;
}();

#endif
