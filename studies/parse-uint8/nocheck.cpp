// Published as "nocheck": no answer but the value; right for valid numbers alone. A contract of its
// own. Built with PARSE_UNCHECKED, as is its harness.

#include "text.h"

#include <cstring>

extern "C" void parse_uint8(const char *text, size_t length, uint8_t *number) {
  uint32_t word;
  memcpy(&word, text, sizeof(word));
  word &= 0x0f0f0fu;
  const uint32_t shift = (static_cast<uint32_t>(length) * 8 - 8) & 0x18;
  *number = static_cast<uint8_t>((word * 0x640a01u) >> shift);
}
