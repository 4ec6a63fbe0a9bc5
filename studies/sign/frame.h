/* What all contestants of this study share: the loops around a form, and the answer.
 *
 * A form defines SIGN(bits), the function `reg sign8(reg a, reg b)` for 8 bits and so on, and ends
 * with FRAME. It is inlined into every loop. */
#ifndef FRAME_H
#define FRAME_H

#include "task.h"
#include <immintrin.h>

/* The type of a mask for lanes of so many bits. */
typedef __mmask64 mask8;
typedef __mmask32 mask16;
typedef __mmask16 mask32;

/* 64 bytes: one register, or two where there is only AVX2. LAUNDER hides from the compiler what is
 * in a register, at the cost of no instruction: then it does the whole of a form each time, and
 * loads what it needs once. SUMS is how many of these a dot product adds to: AVX2 has registers for
 * two. */
#ifdef __AVX512BW__
enum { SUMS = 4 };
typedef __m512i reg;
#define LAUNDER(r) __asm__ __volatile__("" : "+v"(r))
static inline reg load(const uint8_t *from) { return _mm512_loadu_si512(from); }
static inline void store(uint8_t *to, reg r) { _mm512_storeu_si512(to, r); }
static inline reg zero(void) { return _mm512_setzero_si512(); }
#else
enum { SUMS = 2 };
typedef struct {
  __m256i low, high;
} reg;
#define LAUNDER(r) __asm__ __volatile__("" : "+x"((r).low), "+x"((r).high))
static inline reg load(const uint8_t *from) {
  return (reg){_mm256_loadu_si256((const __m256i *)(const void *)from),
               _mm256_loadu_si256((const __m256i *)(const void *)(from + 32))};
}
static inline void store(uint8_t *to, reg r) {
  _mm256_storeu_si256((__m256i *)(void *)to, r.low);
  _mm256_storeu_si256((__m256i *)(void *)(to + 32), r.high);
}
static inline reg zero(void) {
  return (reg){_mm256_setzero_si256(), _mm256_setzero_si256()};
}
#endif

/* Adds the products of 64 pairs of bytes to 16 sums: |a| times sign(b, a), as no instruction
 * multiplies two signed bytes. No byte is -128, so none of the sums of two products saturates. */
#if defined WIDE_PRODUCTS
static inline reg add_products(reg sums, const uint8_t *a, const uint8_t *b) {
  for (int half = 0; half < REGISTER; half += 32) {
    const __m512i wide_a = _mm512_cvtepi8_epi16(_mm256_loadu_si256((const void *)(a + half)));
    const __m512i wide_b = _mm512_cvtepi8_epi16(_mm256_loadu_si256((const void *)(b + half)));
    sums = _mm512_add_epi32(sums, _mm512_madd_epi16(wide_a, wide_b));
  }
  return sums;
}
#define ADD_PRODUCTS
#elif defined __AVX512BW__
#define ADD_PRODUCTS \
  static inline reg add_products(reg sums, const uint8_t *a, const uint8_t *b) { \
    reg signs = load(a), factor = load(b); \
    LAUNDER(factor); \
    return ADD_UNSIGNED(sums, _mm512_abs_epi8(signs), sign8(factor, signs)); \
  }
#ifdef __AVX512VNNI__
#define ADD_UNSIGNED _mm512_dpbusd_epi32
#else
#define ADD_UNSIGNED(sums, size, factor) \
  _mm512_add_epi32(sums, _mm512_madd_epi16(_mm512_maddubs_epi16(size, factor), \
                                           _mm512_set1_epi16(1)))
#endif
#else
#define ADD_PRODUCTS \
  static inline __m256i add_half(__m256i sums, __m256i signs, __m256i factor) { \
    const __m256i pairs = _mm256_maddubs_epi16(_mm256_abs_epi8(signs), factor); \
    return _mm256_add_epi32(sums, _mm256_madd_epi16(pairs, _mm256_set1_epi16(1))); \
  } \
  static inline reg add_products(reg sums, const uint8_t *a, const uint8_t *b) { \
    const reg signs = load(a), factor = sign8(load(b), signs); \
    return (reg){add_half(sums.low, signs.low, factor.low), \
                 add_half(sums.high, signs.high, factor.high)}; \
  }
#endif

/* The loops of one width. */
#define LOOPS(bits) \
  static void memory##bits(const task *one, uint8_t *to) { \
    const uint8_t *a = task_a(one), *b = task_b(one); \
    const uint64_t bytes = one->a_bytes; \
    _Pragma("GCC unroll 4") for (uint64_t i = 0; i < bytes; i += REGISTER) { \
      reg first = load(a + i); \
      LAUNDER(first); \
      store(to + i, sign##bits(first, load(b + i))); \
    } \
  } \
  static void throughput##bits(const task *one, uint8_t *to) { \
    reg b = load(task_b(one)); \
    EACH_CHAIN(LOAD_CHAIN, bits) \
    for (uint64_t round = one->rounds; round > 0; round--) { EACH_CHAIN(STEP_CHAIN, bits) } \
    EACH_CHAIN(STORE_CHAIN, bits) \
  } \
  static void latency##bits(const task *one, uint8_t *to) { \
    reg a = load(task_a(one)), b = load(task_b(one)); \
    _Pragma("GCC unroll 8") for (uint64_t round = one->rounds; round > 0; round--) { \
      b = sign##bits(a, b); \
      LAUNDER(a); \
      LAUNDER(b); \
    } \
    store(to, b); \
  }

/* A variable for each chain, as gcc keeps an array of registers in memory. */
#define EACH_CHAIN(what, bits) \
  what(bits, 0) what(bits, 1) what(bits, 2) what(bits, 3) what(bits, 4) what(bits, 5)
#define LOAD_CHAIN(bits, k) reg chain##k = load(task_a(one) + k * REGISTER);
#define STORE_CHAIN(bits, k) store(to + k * REGISTER, chain##k);
#define STEP_CHAIN(bits, k) \
  chain##k = sign##bits(chain##k, b); \
  LAUNDER(chain##k); \
  LAUNDER(b);

#define DOT_LOOP \
  static void dot8(const task *one, uint8_t *to) { \
    const uint8_t *a = task_a(one), *b = task_b(one); \
    reg sums[SUMS]; \
    for (int k = 0; k < SUMS; k++) sums[k] = zero(); \
    for (uint64_t i = 0; i < one->a_bytes; i += SUMS * REGISTER) \
      _Pragma("GCC unroll 4") for (uint64_t k = 0; k < SUMS; k++) \
        sums[k] = add_products(sums[k], a + i + k * REGISTER, b + i + k * REGISTER); \
    uint8_t lanes[SUMS * REGISTER]; \
    int64_t total = 0; \
    for (int k = 0; k < SUMS; k++) store(lanes + k * REGISTER, sums[k]); \
    for (uint64_t k = 0; k < sizeof lanes / 4; k++) total += task_lane(lanes, k, 32); \
    memcpy(to, &total, sizeof total); \
  }

/* Ends a form. `is_relaxed` forms may give anything where b is 0, which the answer has as 0. Input
 * and output start at a page, so that in no run a load has the lower 12 bits of a store that comes
 * right before it, which the processor takes for the same address for a while. */
#define FRAME(name, needs, is_relaxed) \
  SIGN(8) SIGN(16) SIGN(32) LOOPS(8) LOOPS(16) LOOPS(32) ADD_PRODUCTS DOT_LOOP \
  typedef void loop(const task *, uint8_t *); \
  static loop *const loops[4][3] = {{memory8, memory16, memory32}, \
                                    {throughput8, throughput16, throughput32}, \
                                    {latency8, latency16, latency32}, \
                                    {dot8, 0, 0}}; \
  static uint64_t run(void *state) { \
    const tiebreak_workload *workload = (const tiebreak_workload *)state; \
    const task *one = (const task *)tiebreak_launder(workload->input); \
    loops[one->mode][one->bits / 16](one, workload->output); \
    return task_checksum(workload->items, workload->output, workload->output_bytes); \
  } \
  static void dump(void *state, const tiebreak_sink *sink) { \
    const tiebreak_workload *workload = (const tiebreak_workload *)state; \
    frame_dump((const task *)(const void *)workload->input, workload, is_relaxed, sink); \
  } \
  TIEBREAK_CONTESTANT_WITH(name, needs, 0u, 0u, 0u, 4096u, tiebreak_copy_workload, 0, run, dump, \
                           free)

static void frame_dump(const task *one, const tiebreak_workload *workload, int is_relaxed,
                       const tiebreak_sink *sink) {
  if (one->mode == DOT) {
    tiebreak_write_number(sink, task_checksum(0, workload->output, workload->output_bytes));
    return;
  }
  const uint64_t lane_bytes = one->bits / 8, b_lanes = one->b_bytes / lane_bytes;
  uint8_t line[REGISTER];
  for (uint64_t at = 0; at < workload->output_bytes; at += REGISTER) {
    memcpy(line, workload->output + at, REGISTER);
    for (uint64_t k = 0; is_relaxed && k < REGISTER; k += lane_bytes)
      if (task_lane(task_b(one), (at + k) / lane_bytes % b_lanes, one->bits) == 0)
        memset(line + k, 0, lane_bytes);
    task_write(sink, line);
  }
}

#endif
