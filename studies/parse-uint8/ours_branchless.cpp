// Ours: no table and no branch. As "bob", but whether all are digits and whether the number is at
// most 255 meet in the sign bits of one word and share a test.

#include "text.h"

#include <cstring>

extern "C" int parse_uint8(const char *text, size_t length, uint8_t *number) {
  uint32_t word;
  memcpy(&word, text, sizeof(word));
  word ^= 0x30303030u;
  word <<= (0 - length * 8) & 31; // 24, 16, 8; the lowest byte is zero for lengths 1 to 3
  *number = static_cast<uint8_t>((word * 0x640a01u) >> 24);
  const uint32_t not_digit = (word + 0x76767600u) | word; // 0x80 where a byte is above 9
  const uint32_t too_large = 0x020505u - __builtin_bswap32(word); // negative above 2, 5, 5
  const uint32_t wrong = (not_digit & 0x80808000u) | (too_large & 0x80000000u);
  return (wrong == 0) & (length - 1 < 3);
}
