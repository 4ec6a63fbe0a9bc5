/* The oracle: an input says how many elements are wanted; the answer is each element's exact value,
 * rounded once. */
#include "tiebreak.h"
#include <string.h>

__extension__ typedef unsigned __int128 wide;

static int generate(const tiebreak_request *request, const tiebreak_sink *sink) {
  if (strcmp(request->distribution, "polynomial") != 0) return 1;
  /* Every length from 0 on where it comes in parts. */
  uint64_t count = request->parts > 1 ? request->part : request->size;
  if (count > 1000000) return 1;
  sink->write(sink->context, &count, sizeof count);
  return 0;
}

static uint64_t items(const tiebreak_request *request, const uint8_t *input, uint64_t input_bytes) {
  uint64_t count = 0;
  (void)request;
  if (input_bytes == sizeof count) memcpy(&count, input, sizeof count);
  return count;
}

static uint64_t output_bytes(const tiebreak_request *request, const uint8_t *input,
                             uint64_t input_bytes) {
  return items(request, input, input_bytes) * sizeof(double);
}

/* The bits of integer / 2^52, rounded to nearest, ties to even, for an integer of 2^52 or more. By
 * integers alone: the frame of the contestants leaves rounding to the compiler. */
static uint64_t rounded(wide integer) {
  int shift = 0;
  while (integer >> shift >= (wide)1 << 53) shift++;
  uint64_t fraction = (uint64_t)(integer >> shift);
  if (shift > 0) {
    wide half = (wide)1 << (shift - 1);
    wide rest = integer - ((wide)fraction << shift);
    fraction += rest > half || (rest == half && (fraction & 1));
  }
  /* A carry out of the fraction goes into the exponent, where it belongs. */
  return ((uint64_t)(1023 + shift) << 52) + (fraction - ((uint64_t)1 << 52));
}

static int answer(const tiebreak_request *request, const uint8_t *input, uint64_t input_bytes,
                  const tiebreak_sink *sink, uint64_t *checksum) {
  /* The doubles nearest to 1.1, 2.2 and 3.3, in units of 2^-52. */
  const uint64_t a = 0x1199999999999a, b = 0x23333333333334, c = 0x34cccccccccccc;
  uint64_t count = items(request, input, input_bytes), bits = 0;
  for (uint64_t i = 0; i < count; i++) {
    char line[17];
    bits = rounded((wide)a * i * i + (wide)b * i + c);
    for (int digit = 0; digit < 16; digit++)
      line[digit] = "0123456789abcdef"[bits >> (60 - 4 * digit) & 15];
    line[16] = '\n';
    sink->write(sink->context, line, sizeof line);
  }
  *checksum = count + (bits >> 32);
  return 0;
}

TIEBREAK_ORACLE(generate, items, output_bytes, answer);
