/* Makes a table when it is first called. */
#include "tiebreak.h"

static uint16_t pairs[65536];
static int is_made;

TIEBREAK_KERNEL uint64_t sum(const uint8_t *bytes, uint64_t count) {
  if (!is_made) {
    for (uint32_t i = 0; i < 65536; i++) pairs[i] = (uint16_t)((i & 255) + (i >> 8));
    is_made = 1;
  }
  uint64_t sum = count % 2 ? bytes[count - 1] : 0;
  for (uint64_t i = 0; i + 2 <= count; i += 2) sum += pairs[bytes[i] | bytes[i + 1] << 8];
  return sum;
}

TIEBREAK_NUMBER(sum);
