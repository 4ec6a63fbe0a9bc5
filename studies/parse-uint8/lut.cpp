// Published as "lut" (Nick Powell): 2^24 entries of 16 bits, 32 MiB, by the bytes of the string. An
// entry is the value and the length, so that "1" and "1\0" differ.

#include "text.h"

#include <cstdio>
#include <cstring>
#include <vector>

namespace {

uint32_t key_of(const char *text, size_t length) {
  uint32_t word;
  memcpy(&word, text, sizeof(word));
  return word & (0xffffffffu >> (8 * (4 - length)));
}

std::vector<uint16_t> filled() {
  std::vector<uint16_t> table(1u << 24, uint16_t{4 << 8});
  for (int length = 1; length <= 3; length++) {
    for (unsigned value = 0; value < 256; value++) {
      char text[8] = {};
      if (snprintf(text, sizeof(text), "%0*u", length, value) != length) continue;
      table[key_of(text, static_cast<size_t>(length))] =
          static_cast<uint16_t>(value | static_cast<unsigned>(length) << 8);
    }
  }
  return table;
}

const std::vector<uint16_t> table = filled(); // as the library is loaded, so not timed

} // namespace

extern "C" int parse_uint8(const char *text, size_t length, uint8_t *number) {
  // The source lets length 0 through, and shifts by 32.
  if (length == 0 || length > 3) return 0;
  const uint16_t entry = table[key_of(text, length)];
  *number = static_cast<uint8_t>(entry);
  return (entry >> 8) == length;
}
