// Published as "switch_case" (a reader's comment): no check that the number fits, so "256" to "999"
// are taken, modulo 256. A contract of its own.

#include "text.h"

extern "C" int parse_uint8(const char *text, size_t length, uint8_t *number) {
  const auto digit = [text](int i) { return static_cast<uint8_t>(text[i] - '0'); };
  switch (length) {
  case 1: {
    *number = digit(0);
    return *number < 10;
  }
  case 2: {
    const uint8_t high = digit(0), low = digit(1);
    *number = static_cast<uint8_t>(high * 10 + low);
    return high < 10 && low < 10;
  }
  case 3: {
    const uint8_t high = digit(0), middle = digit(1), low = digit(2);
    *number = static_cast<uint8_t>(high * 100 + middle * 10 + low);
    return high < 10 && middle < 10 && low < 10;
  }
  default:
    return 0;
  }
}
