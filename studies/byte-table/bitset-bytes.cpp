// A map of 32 bytes, made by the compiler: half a cache line.
#include "frame.h"
#include "set.h"

alignas(32) constexpr static auto bytes = bits_of_set<uint8_t>();

TIEBREAK_KERNEL bool is_forbidden(char c) {
  uint8_t byte = uint8_t(c);
  return bytes[byte / 8] >> (byte % 8) & 1;
}

BYTE_CONTESTANT("bitmap of 32 bytes", is_forbidden);
