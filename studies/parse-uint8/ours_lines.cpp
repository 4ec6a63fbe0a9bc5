// Ours under the contract "batch": sixteen numbers at a time with AVX-512.
//
//   load 64 bytes of text that start a line
//   ends     = where the line feeds are, the first 16 of them
//   cells    = the lines, each moved to the end of a 4-byte cell with zeros before it
//   numbers  = 100 a + 10 b + c of each cell, by two multiply-and-add instructions
//   go on behind the last line feed
//
// The lines go into cells by one expand instruction. Its mask, 4 bits a cell, has the upper two
// set always (the last digit and the line feed), the bit below unless the line has one digit, and
// the lowest only if it has three. "Line k has one digit" is bit k of pext(ends << 2, ends): there
// is a line end two bytes before its own. pdep spreads those bits back to 4 a cell.
//
// A block with anything else in it (an empty line, four characters, no digit, above 255) is done
// again a line at a time. The text is cut at its middle and both halves advance in turns, since
// where a block starts is known only when the one before it has been looked at: about 20 cycles.

#include "lines.h"

#include <cstring>
#include <immintrin.h>

namespace {

constexpr uint64_t cell = 0x1111111111111111u; // the lowest bit of each cell

uint16_t number_of(const char *text, size_t length) {
  uint32_t value = 0;
  if (length < 1 || length > 3) return no_number;
  for (size_t i = 0; i < length; i++) {
    const uint8_t digit = static_cast<uint8_t>(text[i] - '0');
    if (digit > 9) return no_number;
    value = value * 10 + digit;
  }
  return value <= 255 ? static_cast<uint16_t>(value) : no_number;
}

struct Cursor {
  const char *text;
  const char *end;
  uint16_t *numbers;
};

// The next line by itself.
inline void line(Cursor &at) {
  const auto *end = static_cast<const char *>(
      memchr(at.text, '\n', static_cast<size_t>(at.end - at.text)));
  *at.numbers++ = number_of(at.text, static_cast<size_t>(end - at.text));
  at.text = end + 1;
}

// The next 16 lines, or those that end in the next 64 bytes if there are fewer.
inline void block(Cursor &at) {
  const __m512i bytes = _mm512_loadu_si512(at.text);
  const uint64_t all_ends = _mm512_cmpeq_epi8_mask(bytes, _mm512_set1_epi8('\n'));
  // The 16 lowest of them: up to the place that pdep gives for bit 15, all if there are fewer.
  const uint64_t last = _pdep_u64(1u << 15, all_ends);
  const uint64_t ends = all_ends & (last ^ (last - 1));
  const auto count = static_cast<unsigned>(_mm_popcnt_u64(ends));
  // A line starts at bit 0, as if one had ended before it.
  const uint64_t two_before = ends << 2 | 1u << 1;
  const uint64_t three_before = ends << 3 | 1u << 2;
  const uint64_t four_before = ends << 4 | 1u << 3;
  const uint64_t one_digit = _pext_u64(two_before, ends);
  const uint64_t two_digits = _pext_u64(three_before, ends);
  const uint64_t sized = (two_before | three_before | four_before) & ~(ends << 1 | 1);
  const uint64_t mask =
      ~(_pdep_u64(one_digit, cell << 1) | _pdep_u64(one_digit | two_digits, cell));
  const __m512i cells = _mm512_maskz_expand_epi8(mask, bytes);
  const __mmask64 is_digit = mask & (cell * 7);
  const __m512i digits = _mm512_maskz_sub_epi8(is_digit, cells, _mm512_set1_epi8('0'));
  // Of cells beyond the last line nothing is asked.
  const auto lines = static_cast<__mmask16>((1u << count) - 1);
  const __mmask64 beyond_nine = _mm512_cmpgt_epu8_mask(digits, _mm512_set1_epi8(9));
  const __m512i tens = _mm512_maddubs_epi16(digits, _mm512_set1_epi32(0x00010a64));
  const __m512i values = _mm512_madd_epi16(tens, _mm512_set1_epi16(1));
  const __mmask16 too_large =
      _mm512_mask_cmpgt_epu32_mask(lines, values, _mm512_set1_epi32(255));
  const uint64_t cells_in_use = count == 16 ? ~uint64_t{0} : (uint64_t{1} << (4 * count)) - 1;
  const bool is_plain = (ends & ~sized) == 0 && ends != 0 && (beyond_nine & cells_in_use) == 0 &&
                        too_large == 0;
  if (__builtin_expect(!is_plain, 0)) {
    line(at);
    return;
  }
  // By mask: what follows may be a number of the high half that is there already.
  _mm256_mask_storeu_epi16(at.numbers, lines, _mm512_cvtepi32_epi16(values));
  at.numbers += count;
  at.text += 64 - _lzcnt_u64(ends);
}

// How many lines end in a text.
size_t lines_of(const char *text, size_t size) {
  size_t count = 0;
  for (size_t i = 0; i < size; i += 64) {
    const size_t rest = size - i;
    const __mmask64 inside = rest < 64 ? (uint64_t{1} << rest) - 1 : ~uint64_t{0};
    const __m512i bytes = _mm512_maskz_loadu_epi8(inside, text + i);
    count += static_cast<size_t>(
        _mm_popcnt_u64(_mm512_cmpeq_epi8_mask(bytes, _mm512_set1_epi8('\n'))));
  }
  return count;
}

// Lines that end within 64 bytes of the end would read what is not theirs as a line.
inline bool has_block(const Cursor &at) { return at.end - at.text >= 64; }

} // namespace

extern "C" void parse_lines(const char *text, size_t size, uint16_t *numbers) {
  const char *end = text + size;
  const char *middle = text;
  if (size >= 256) {
    middle = static_cast<const char *>(memchr(text + size / 2, '\n', size - size / 2)) + 1;
  }
  const size_t first = lines_of(text, static_cast<size_t>(middle - text));
  Cursor low{text, middle, numbers};
  Cursor high{middle, end, numbers + first};
  while (has_block(low) && has_block(high)) {
    block(low);
    block(high);
  }
  while (has_block(low)) block(low);
  while (has_block(high)) block(high);
  while (low.text < low.end) line(low);
  while (high.text < high.end) line(high);
}
