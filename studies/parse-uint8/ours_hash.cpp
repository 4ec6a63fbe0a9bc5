// Ours: a perfect hash of the 366 strings that are numbers ("7", "07" and "007" are three).
//
//   key    = the string's bytes with the length above them, in 64 bits
//   slot   = hash of the bytes alone
//   number = key - base[slot], valid if it is below 256
//            where base[slot] = the slot's key - its value
//
// The length is part of what is compared, not of what is hashed: without it "1\0" would pass for
// "1", since masking the word leaves the same bytes. The key has room for the length of any string
// in memory, so lengths above 3 need no test of their own. One subtraction gives both the value and
// the verdict. It would also take strings that differ from the slot's own by less than 256 as
// numbers, if any of them shared its slot: `is_sound` looks at all of them as the source compiles.
// Two loads, bzhi, one multiplication, 4 KiB of table, no branch.

#include "text.h"

#include <array>
#include <cstring>
#include <immintrin.h>

namespace {

// Found by trying random numbers: the first of 71 million that puts 366 strings into 512 slots
// without a collision.
constexpr uint32_t multiplier = 0x830088b3u;
constexpr unsigned slot_bits = 9;
constexpr unsigned length_shift = 24;
constexpr uint64_t nothing = uint64_t{1} << 63; // an empty slot: no key is that large

constexpr uint32_t slot_of(uint64_t bytes) {
  return (static_cast<uint32_t>(bytes) * multiplier) >> (32 - slot_bits);
}

constexpr unsigned values_of_length[4] = {0, 10, 100, 256};

constexpr uint32_t bytes_of(unsigned value, unsigned length) {
  uint32_t bytes = 0;
  for (unsigned i = length; i-- > 0; value /= 10) bytes |= ('0' + value % 10) << (8 * i);
  return bytes;
}

using Table = std::array<uint64_t, 1u << slot_bits>;

constexpr Table filled() {
  Table table{};
  for (uint64_t &base : table) base = nothing;
  for (unsigned length = 1; length <= 3; length++) {
    for (unsigned value = 0; value < values_of_length[length]; value++) {
      const uint32_t bytes = bytes_of(value, length);
      table[slot_of(bytes)] = (bytes | uint64_t{length} << length_shift) - value;
    }
  }
  return table;
}

constexpr Table table = filled();

// Whether each string of digits finds its value, and none of its neighbours finds any.
constexpr bool is_sound() {
  for (unsigned length = 1; length <= 3; length++) {
    for (unsigned value = 0; value < values_of_length[length]; value++) {
      const uint32_t bytes = bytes_of(value, length);
      const uint32_t slot = slot_of(bytes);
      if (table[slot] != (bytes | uint64_t{length} << length_shift) - value) return false;
      for (uint32_t other = bytes - value; other < bytes - value + 256; other++) {
        if (other != bytes && slot_of(other) == slot) return false;
      }
    }
  }
  return true;
}
static_assert(is_sound());

} // namespace

extern "C" int parse_uint8(const char *text, size_t length, uint8_t *number) {
  uint32_t word;
  memcpy(&word, text, sizeof(word));
  const uint64_t bytes = _bzhi_u64(word, static_cast<uint32_t>(length * 8));
  const uint64_t key = bytes | static_cast<uint64_t>(length) << length_shift;
  const uint64_t value = key - table[slot_of(bytes)];
  *number = static_cast<uint8_t>(value);
  return value < 256;
}
