// Published as "david" (David Fetter): as "fastswar", with the shift from a table.

#include "text.h"

#include <cstring>

extern "C" int parse_uint8(const char *text, size_t length, uint8_t *number) {
  static const int shifts[4] = {0, 24, 16, 8};
  if (length == 0 || length > 3) return 0;
  uint32_t word;
  memcpy(&word, text, sizeof(word));
  word ^= 0x30303030u;
  word <<= shifts[length];
  const uint32_t are_digits = ((word | (word + 0x06060606u)) & 0xf0f0f0f0u) == 0;
  *number = static_cast<uint8_t>((word * 0x640a01u) >> 24);
  return are_digits & (__builtin_bswap32(word) <= 0x020505u);
}
