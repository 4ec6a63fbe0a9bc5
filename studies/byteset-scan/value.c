// The set of bytes \t -~\x80-\xff: made by tiebreak byteset, for gcc and clang, as C or C++.
//
//   size_t value_span(const void *bytes, size_t count)    how many from the start on are in the set
//   size_t value_find(const void *bytes, size_t count)    the place of the first that is, or count
//
// Only these bytes are read. AVX2, SSSE3, NEON or plain C: the first that the CPU has. Compiled
// with -Dvalue_TEST it is a program that tests all that the CPU has.
//
// 224 bytes, 3 of the 8 bits that its tables by halves have: no fewer do.
#include <stddef.h>
#include <stdint.h>

// Bit b % 8 of element b / 8 says whether the byte b is in the set.
static const uint8_t value_members[32] = {
    0x00, 0x02, 0x00, 0x00, 0xff, 0xff, 0xff, 0xff,
    0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f,
    0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
    0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
};

static int value_has(uint8_t byte) { return value_members[byte / 8] >> (byte % 8) & 1; }

// The place of the first byte that is in the set, if wanted is 1, or is not, if it is 0.
static size_t value_by_bytes(const uint8_t *bytes, size_t count, int wanted) {
  size_t at = 0;
  while (at < count && value_has(bytes[at]) != wanted) at++;
  return at;
}

#if defined(__x86_64__)
#include <immintrin.h>

// A byte is in the set if the tables of its halves have a bit in common.
static const uint8_t value_upper[16] = {
    0x01, 0x00, 0x07, 0x07, 0x07, 0x07, 0x07, 0x05,
    0x07, 0x07, 0x07, 0x07, 0x07, 0x07, 0x07, 0x07,
};
static const uint8_t value_lower[16] = {
    0x06, 0x06, 0x06, 0x06, 0x06, 0x06, 0x06, 0x06,
    0x06, 0x07, 0x06, 0x06, 0x06, 0x06, 0x06, 0x02,
};

__attribute__((target("ssse3"))) static inline uint32_t value_of_16(const uint8_t *from) {
  const __m128i upper = _mm_loadu_si128((const __m128i *)value_upper);
  const __m128i lower = _mm_loadu_si128((const __m128i *)value_lower);
  const __m128i half = _mm_set1_epi8(15), bytes = _mm_loadu_si128((const __m128i *)from);
  __m128i row = _mm_shuffle_epi8(upper, _mm_and_si128(_mm_srli_epi16(bytes, 4), half));
  __m128i column = _mm_shuffle_epi8(lower, _mm_and_si128(bytes, half));
  __m128i none = _mm_cmpeq_epi8(_mm_and_si128(row, column), _mm_setzero_si128());
  return (uint32_t)_mm_movemask_epi8(none) ^ 0xffff;
}

__attribute__((target("avx2"))) static inline uint32_t value_of_32(const uint8_t *from) {
  const __m256i upper = _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)value_upper));
  const __m256i lower = _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)value_lower));
  const __m256i half = _mm256_set1_epi8(15), bytes = _mm256_loadu_si256((const __m256i *)from);
  __m256i row = _mm256_shuffle_epi8(upper, _mm256_and_si256(_mm256_srli_epi16(bytes, 4), half));
  __m256i column = _mm256_shuffle_epi8(lower, _mm256_and_si256(bytes, half));
  __m256i none = _mm256_cmpeq_epi8(_mm256_and_si256(row, column), _mm256_setzero_si256());
  return ~(uint32_t)_mm256_movemask_epi8(none);
}

// The last block overlaps the one before it: what is looked at twice was not found the first time.
__attribute__((target("ssse3"))) static size_t value_by_16(
    const uint8_t *bytes, size_t count, int wanted) {
  const uint32_t flip = wanted ? 0 : 0xffff;
  if (count < 16) return value_by_bytes(bytes, count, wanted);
  for (size_t at = 0;; at = at + 32 <= count ? at + 16 : count - 16) {
    uint32_t found = value_of_16(bytes + at) ^ flip;
    if (found) return at + (size_t)__builtin_ctz(found);
    if (at + 16 == count) return count;
  }
}

__attribute__((target("avx2"))) static size_t value_by_32(
    const uint8_t *bytes, size_t count, int wanted) {
  const uint32_t flip = wanted ? 0 : 0xffffffff;
  if (count < 32) return value_by_16(bytes, count, wanted);
  for (size_t at = 0;; at = at + 64 <= count ? at + 32 : count - 32) {
    uint32_t found = value_of_32(bytes + at) ^ flip;
    if (found) return at + (size_t)__builtin_ctz(found);
    if (at + 32 == count) return count;
  }
}

#elif defined(__aarch64__)
#include <arm_neon.h>

// The last block overlaps the one before it: what is looked at twice was not found the first time.
static size_t value_by_16(const uint8_t *bytes, size_t count, int wanted) {
  static const uint8_t each_bit[16] = {1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128};
  const uint8x16x2_t members = {{vld1q_u8(value_members), vld1q_u8(value_members + 16)}};
  const uint64_t flip = wanted ? 0 : UINT64_MAX;
  if (count < 16) return value_by_bytes(bytes, count, wanted);
  for (size_t at = 0;; at = at + 32 <= count ? at + 16 : count - 16) {
    uint8x16_t block = vld1q_u8(bytes + at);
    uint8x16_t row = vqtbl2q_u8(members, vshrq_n_u8(block, 3));
    uint8x16_t bit = vqtbl1q_u8(vld1q_u8(each_bit), vandq_u8(block, vdupq_n_u8(7)));
    uint8x8_t fours = vshrn_n_u16(vreinterpretq_u16_u8(vtstq_u8(row, bit)), 4);
    uint64_t found = vget_lane_u64(vreinterpret_u64_u8(fours), 0) ^ flip;
    if (found) return at + (size_t)__builtin_ctzll(found) / 4;
    if (at + 16 == count) return count;
  }
}
#endif

typedef size_t value_search(const uint8_t *bytes, size_t count, int wanted);

// The forms that the CPU has, the widest last.
static int value_forms(value_search **forms) {
  int count = 0;
  forms[count++] = value_by_bytes;
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (__builtin_cpu_supports("ssse3")) forms[count++] = value_by_16;
  if (__builtin_cpu_supports("avx2")) forms[count++] = value_by_32;
#elif defined(__aarch64__)
  forms[count++] = value_by_16;
#endif
  return count;
}

static size_t value_first(const uint8_t *bytes, size_t count, int wanted) {
  // Threads that come here first at the same time all write the same.
  static value_search *widest;
  value_search *search = __atomic_load_n(&widest, __ATOMIC_RELAXED);
  if (!search) {
    value_search *forms[3];
    search = forms[value_forms(forms) - 1];
    __atomic_store_n(&widest, search, __ATOMIC_RELAXED);
  }
  return search(bytes, count, wanted);
}

size_t value_span(const void *bytes, size_t count) {
  return value_first((const uint8_t *)bytes, count, 0);
}

size_t value_find(const void *bytes, size_t count) {
  return value_first((const uint8_t *)bytes, count, 1);
}

#ifdef value_TEST
#include <stdio.h>

// Every byte at every place of every length up to 100, among bytes of the other kind.
int main(void) {
  value_search *forms[3];
  int count = value_forms(forms), in = 0, out = 0;
  while (!value_has((uint8_t)in)) in++;
  while (value_has((uint8_t)out)) out++;
  for (int form = 0; form < count; form++) {
    for (int byte = 0; byte < 256; byte++) {
      uint8_t bytes[100];
      int wanted = value_has((uint8_t)byte);
      for (size_t length = 0; length <= sizeof bytes; length++) {
        for (size_t at = 0; at <= length; at++) {
          for (size_t i = 0; i < sizeof bytes; i++) bytes[i] = (uint8_t)(wanted ? out : in);
          // Beyond the end there is another, which must not be found.
          for (size_t i = length; i < sizeof bytes; i++) bytes[i] = (uint8_t)byte;
          if (at < length) bytes[at] = (uint8_t)byte;
          size_t found = forms[form](bytes, length, wanted);
          if (found != at) {
            printf("value: form %d finds byte %d at %zu of %zu and not at %zu\n", form, byte, found,
                   length, at);
            return 1;
          }
        }
      }
    }
  }
  printf("value: %d forms are right\n", count);
  return 0;
}
#endif
