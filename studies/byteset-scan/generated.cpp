// What `tiebreak byteset '\t -~\x80-\xff' --name value` writes, as a user takes it.
#include "frame.h"
#include "value.c"

static const uint8_t *scan(const uint8_t *from, const uint8_t *end) {
  return from + value_span(from, size_t(end - from));
}

SCAN_CONTESTANT("tiebreak byteset", "", scan);
