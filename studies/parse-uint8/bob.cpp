// Published as "bob" (Perforated Bob): three bytes are tested instead of four, the length at the
// end. As in the source, C++ leaves the shift undefined for lengths above 3; what compilers make of
// it is refused afterwards, and `study verify` looks.

#include "text.h"

#include <cstring>

extern "C" int parse_uint8(const char *text, size_t length, uint8_t *number) {
  uint32_t word;
  memcpy(&word, text, sizeof(word));
  word ^= 0x303030u;
  word <<= (length ^ 3) * 8;
  *number = static_cast<uint8_t>((word * 0x640a01u) >> 16);
  return (((word + 0x767676u) | word) & 0x808080u) == 0 && (length ^ 3) < 3 &&
         __builtin_bswap32(word) <= 0x020505ffu;
}
