// Four words of 64 bits, made by the compiler: a shift and a test, without a branch.
#include "frame.h"
#include "set.h"

alignas(32) constexpr static auto words = bits_of_set<uint64_t>();

TIEBREAK_KERNEL bool is_forbidden(char c) {
  uint8_t byte = uint8_t(c);
  return words[byte / 64] >> (byte % 64) & 1;
}

BYTE_CONTESTANT("bitset of four words", is_forbidden);
