// The contract "batch" without any idea: a character at a time.

#include "lines.h"

extern "C" void parse_lines(const char *text, size_t size, uint16_t *numbers) {
  uint32_t value = 0;
  size_t length = 0;
  bool is_valid = true;
  for (size_t i = 0; i < size; i++) {
    if (text[i] == '\n') {
      is_valid = is_valid && length >= 1 && length <= 3 && value <= 255;
      *numbers++ = is_valid ? static_cast<uint16_t>(value) : no_number;
      value = 0;
      length = 0;
      is_valid = true;
    } else {
      const uint8_t digit = static_cast<uint8_t>(text[i] - '0');
      is_valid = is_valid && digit <= 9;
      value = value * 10 + digit;
      length++;
    }
  }
}
