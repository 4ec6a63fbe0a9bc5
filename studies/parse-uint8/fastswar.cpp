// Published as "SWAR" (Koekkoek, Lemire, Bourguet): the digits in one word, shifted to its top, so
// that one multiplication gives 100 a + 10 b + c in the highest byte.

#include "text.h"

#include <cstring>

extern "C" int parse_uint8(const char *text, size_t length, uint8_t *number) {
  if (length == 0 || length > 3) return 0;
  uint32_t word;
  memcpy(&word, text, sizeof(word));
  word ^= 0x30303030u;
  word <<= (4 - length) * 8;
  const uint32_t are_digits = ((word | (word + 0x06060606u)) & 0xf0f0f0f0u) == 0;
  *number = static_cast<uint8_t>((word * 0x640a01u) >> 24);
  // The bytes in reading order compare as the numbers do: 2, 5, 5 is the largest.
  return are_digits & (__builtin_bswap32(word) <= 0x020505u);
}
