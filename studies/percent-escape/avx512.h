// What ours have in common where the CPU has AVX-512 with VBMI2.
#ifndef PERCENT_ESCAPE_AVX512_H
#define PERCENT_ESCAPE_AVX512_H

#include <cstddef>
#include <cstdint>
#include <immintrin.h>

// The lowest `count` lanes, all of them from 64 on. Written so that the compiler makes no branch of
// it: whether a path is shorter than 64 bytes is nothing that a CPU could guess.
inline __mmask64 lanes(size_t count) {
  return _bzhi_u64(~uint64_t{0}, static_cast<uint32_t>(count < 64 ? count : 64));
}

// The bytes of the blocks of 64 that `each_block` names: one block at least.
inline size_t rounded_up(size_t size) { return (size + (size == 0) + 63) & ~size_t{63}; }

// Calls `block(at, mask)` for each block of 64 bytes, with the lanes that are inside of `size`.
//
// Up to 192 bytes that is three calls without a branch, since how many times a loop of 1 to 3 turns
// goes round is what a CPU guesses wrong; for shorter paths the last block comes again. No block
// lies outside altogether, under an empty mask: a masked store to a page that is not there does
// nothing, but takes some hundred cycles to do so, and where the heap ends is luck.
template <typename Block> inline void each_block(size_t size, Block block) {
  size_t at = 0;
  for (; at + 192 < size; at += 64) block(at, ~uint64_t{0});
  const size_t last = (size - (size > 0)) & ~size_t{63};
  const size_t second = at + 64 < last ? at + 64 : last;
  block(at, lanes(size - at));
  block(second, lanes(size - second));
  block(last, lanes(size - last));
}

// Escapes `size` bytes to `to` and gives the end of what it wrote, nothing beyond which is touched.
//
// 21 bytes a step become at most 63. Their places come from masks alone:
//   slots     3 bits an input byte: the byte itself, a place for '2', a place for '5'
//   used      the slots that have something: all three of a percent sign's, else the first
// Taking only the used slots together (pext) gives the masks of the output: the input bytes go by
// one expand instruction to where the first slots are, '2' and '5' to the others.
inline char *escape_dense(const char *from, size_t size, char *to) {
  constexpr size_t step = 21;
  constexpr uint64_t slots = 0x1249249249249249u;
  const __m512i sign = _mm512_set1_epi8('%');
  for (size_t at = 0; at < size; at += step) {
    const size_t count = size - at < step ? size - at : step;
    const __m512i bytes = _mm512_maskz_loadu_epi8(lanes(count), from + at);
    const uint64_t signs = _pdep_u64(_mm512_cmpeq_epi8_mask(bytes, sign), slots);
    const uint64_t firsts = slots & _bzhi_u64(~uint64_t{0}, static_cast<uint32_t>(3 * count));
    const uint64_t used = firsts | signs * 6;
    __m512i escaped = _mm512_maskz_expand_epi8(_pext_u64(firsts, used), bytes);
    escaped = _mm512_mask_mov_epi8(escaped, _pext_u64(signs << 1, used), _mm512_set1_epi8('2'));
    escaped = _mm512_mask_mov_epi8(escaped, _pext_u64(signs << 2, used), _mm512_set1_epi8('5'));
    const auto length = static_cast<size_t>(_mm_popcnt_u64(used));
    _mm512_mask_storeu_epi8(to, lanes(length), escaped);
    to += length;
  }
  return to;
}

// How many percent signs there are.
inline size_t signs_of(const char *from, size_t size) {
  size_t count = 0;
  for (size_t at = 0; at < size; at += 64) {
    const __m512i bytes = _mm512_maskz_loadu_epi8(lanes(size - at), from + at);
    count += static_cast<size_t>(
        _mm_popcnt_u64(_mm512_cmpeq_epi8_mask(bytes, _mm512_set1_epi8('%'))));
  }
  return count;
}

#endif
