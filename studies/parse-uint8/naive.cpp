// Published as "naive" (Jeroen Koekkoek): a digit at a time.

#include "text.h"

extern "C" int parse_uint8(const char *text, size_t length, uint8_t *number) {
  uint32_t value = 0;
  const size_t count = length & 3;
  for (size_t i = 0; i < count; i++) {
    const uint8_t digit = static_cast<uint8_t>(text[i] - '0');
    if (digit > 9) return 0;
    value = value * 10 + digit;
  }
  *number = static_cast<uint8_t>(value);
  return value < 256 && length != 0 && length < 4;
}
