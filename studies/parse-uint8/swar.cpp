// Published as "swar", the first form (Jeroen Koekkoek), kept by the source as a reference although
// it is wrong: a digit is any of "0123456789:;<=>?".

#include "text.h"

#include <cstring>

extern "C" int parse_uint8(const char *text, size_t length, uint8_t *number) {
  uint32_t word;
  memcpy(&word, text, sizeof(word));
  word ^= 0x30303030u;
  // As in the source: for lengths 0 and 4 a shift by 32, which C++ leaves undefined.
  word <<= (4 - (length & 3)) * 8;
  uint8_t digits[4];
  memcpy(digits, &word, sizeof(word));
  const uint32_t value = (digits[1] * 10u + digits[2]) * 10u + digits[3];
  *number = static_cast<uint8_t>(value);
  return (word & 0xf0f0f0f0u) == 0 && value < 256 && length != 0 && length < 4;
}
