/* The oracle: names of headers and their values, each with its length before it. The answer is the
 * place of each name in the list, whatever its case, or 65535 for a name that is not there. */
#include "tiebreak.h"
#include <stdio.h>
#include <string.h>

static const char *const names[] = {
#include "names.inc"
};

enum { COUNT = sizeof names / sizeof *names, UNKNOWN = 65535 };

typedef struct {
  const tiebreak_sink *sink;
  uint64_t state;
} writer;

/* One of so many numbers, each as likely. */
static uint64_t draw(writer *to, uint64_t count) { return tiebreak_random(&to->state) % count; }

static int is_letter(char c) { return (c | 32) >= 'a' && (c | 32) <= 'z'; }

static char lower(char c) { return c >= 'A' && c <= 'Z' ? (char)(c + 32) : c; }

/* A name and a value of up to 40 bytes, with a byte for the length of each before them. */
static void put(writer *to, const char *name, uint64_t bytes) {
  char value[40];
  uint64_t value_bytes = 1 + draw(to, sizeof value);
  for (uint64_t i = 0; i < value_bytes; i++) value[i] = (char)('!' + draw(to, 94));
  char lengths[] = {(char)bytes, (char)value_bytes};
  to->sink->write(to->sink->context, lengths, sizeof lengths);
  to->sink->write(to->sink->context, name, bytes);
  to->sink->write(to->sink->context, value, value_bytes);
}

/* A name with those letters in upper case whose bit in the mask is set. */
static void put_masked(writer *to, const char *name, uint64_t mask) {
  char text[64];
  uint64_t bytes = strlen(name);
  for (uint64_t i = 0; i < bytes; i++) {
    text[i] = lower(name[i]);
    if (is_letter(name[i]) && mask >> i & 1) text[i] = (char)(text[i] - 32);
  }
  put(to, text, bytes);
}

/* Most as the list has them, some in lower case as HTTP/2 has them, some mixed, one in ten not
 * there. */
static void put_any(writer *to) {
  uint64_t kind = draw(to, 10);
  const char *name = names[draw(to, COUNT)];
  if (kind == 0) {
    char text[16];
    put(to, text, (uint64_t)snprintf(text, sizeof text, "X-Trace-%d", (int)draw(to, 1000)));
  } else if (kind <= 6) {
    put(to, name, strlen(name));
  } else {
    put_masked(to, name, kind <= 8 ? 0 : tiebreak_random(&to->state));
  }
}

/* What a browser sends, again and again: few names, in one order. */
static void put_usual(writer *to, uint64_t at) {
  static const char *const usual[] = {
      "Host",       "User-Agent", "Accept", "Accept-Language", "Accept-Encoding",
      "Connection", "Referer",    "Cookie", "If-None-Match",   "Cache-Control",
  };
  const char *name = usual[at % (sizeof usual / sizeof *usual)];
  put(to, name, strlen(name));
}

/* A name with each byte changed to each other value. */
static void put_mutations(writer *to, const char *name) {
  char text[64];
  uint64_t bytes = strlen(name);
  for (uint64_t at = 0; at < bytes; at++) {
    for (int byte = 0; byte < 256; byte++) {
      memcpy(text, name, bytes);
      text[at] = (char)byte;
      put(to, text, bytes);
    }
  }
}

/* A name cut off everywhere, and with a byte of any value behind it and before it. */
static void put_lengths(writer *to, const char *name) {
  char text[64];
  uint64_t bytes = strlen(name);
  for (uint64_t length = 1; length < bytes; length++) put(to, name, length);
  for (int byte = 0; byte < 256; byte++) {
    memcpy(text + 1, name, bytes);
    text[0] = text[bytes + 1] = (char)byte;
    put(to, text, bytes + 1);
    put(to, text + 1, bytes + 1);
  }
}

static int generate(const tiebreak_request *request, const tiebreak_sink *sink) {
  writer to = {sink, request->seed};
  const char *distribution = request->distribution;
  if (strcmp(distribution, "mixed") == 0) {
    for (uint64_t i = 0; i < request->size; i++) put_any(&to);
  } else if (strcmp(distribution, "usual") == 0) {
    for (uint64_t i = 0; i < request->size; i++) put_usual(&to, i);
  } else if (strcmp(distribution, "masks") == 0) {
    for (uint64_t i = 0; i < request->size * COUNT; i++) {
      put_masked(&to, names[i % COUNT], tiebreak_random(&to.state));
    }
  } else if (strcmp(distribution, "mutations") == 0) {
    for (uint64_t i = request->part; i < COUNT; i += request->parts) put_mutations(&to, names[i]);
  } else if (strcmp(distribution, "lengths") == 0) {
    for (uint64_t i = 0; i < COUNT; i++) put_lengths(&to, names[i]);
  } else {
    return 1;
  }
  return 0;
}

static uint64_t items(const tiebreak_request *request, const uint8_t *input, uint64_t input_bytes) {
  (void)request;
  uint64_t count = 0;
  for (uint64_t at = 0; at < input_bytes; at += 2 + input[at] + input[at + 1]) count++;
  return count;
}

static uint64_t output_bytes(const tiebreak_request *request, const uint8_t *input,
                             uint64_t input_bytes) {
  return 2 * items(request, input, input_bytes);
}

static uint64_t id_of(const char *text, uint64_t bytes) {
  for (uint64_t id = 0; id < COUNT; id++) {
    uint64_t same = 0;
    if (strlen(names[id]) != bytes) continue;
    while (same < bytes && lower(text[same]) == lower(names[id][same])) same++;
    if (same == bytes) return id;
  }
  return UNKNOWN;
}

static int answer(const tiebreak_request *request, const uint8_t *input, uint64_t input_bytes,
                  const tiebreak_sink *sink, uint64_t *checksum) {
  (void)request;
  *checksum = 0;
  for (uint64_t at = 0; at < input_bytes; at += 2 + input[at] + input[at + 1]) {
    uint64_t id = id_of((const char *)input + at + 2, input[at]);
    tiebreak_write_number(sink, id);
    *checksum += id;
  }
  return 0;
}

TIEBREAK_ORACLE(generate, items, output_bytes, answer);
