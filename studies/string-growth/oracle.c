/* The input is a volume; the answer is a string of one character more: its size, and how many
 * characters from the start are an 'a'. */
#include "tiebreak.h"

#include <string.h>

/* Part n of the lengths that are verified is the volume n. */
static int generate(const tiebreak_request *request, const tiebreak_sink *sink) {
  uint64_t volume = request->size;
  if (strcmp(request->distribution, "every-volume") == 0) volume = request->part;
  sink->write(sink->context, &volume, sizeof volume);
  return 0;
}

static uint64_t items(const tiebreak_request *request, const uint8_t *input, uint64_t input_bytes) {
  uint64_t volume = 0;
  (void)request;
  if (input_bytes == sizeof volume) memcpy(&volume, input, sizeof volume);
  return volume + 1;
}

static int answer(const tiebreak_request *request, const uint8_t *input, uint64_t input_bytes,
                  const tiebreak_sink *sink, uint64_t *checksum) {
  const uint64_t size = items(request, input, input_bytes);
  *checksum = size * 65536 + 'a' * 256u + 'a';
  tiebreak_write_number(sink, size);
  tiebreak_write_number(sink, size);
  return 0;
}

TIEBREAK_ORACLE(generate, items, NULL, answer);
