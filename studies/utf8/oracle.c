/* The oracle: texts, and whether each is UTF-8.
 *
 * An input is the number of texts, where each ends (all words of 32 bits; the first begins at 0),
 * and their bytes. The answer is 1 or 0 for each text. */
#include "tiebreak.h"
#include <string.h>

/* Texts that are being made. */
typedef struct {
  uint64_t state;
  uint8_t *bytes;
  uint64_t used;
  uint32_t *ends;
  uint32_t count;
} texts;

/* One of so many numbers, each as likely. */
static uint64_t draw(texts *to, uint64_t count) { return tiebreak_random(&to->state) % count; }

/* Writes a character. */
static void put(texts *to, uint32_t code) {
  uint8_t *at = to->bytes + to->used;
  if (code < 0x80) {
    *at++ = (uint8_t)code;
  } else {
    uint32_t more = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
    static const uint8_t first[] = {0, 0xc0, 0xe0, 0xf0};
    *at++ = (uint8_t)(first[more] | code >> 6 * more);
    while (more--) *at++ = (uint8_t)(0x80 | (code >> 6 * more & 0x3f));
  }
  to->used = (uint64_t)(at - to->bytes);
}

static void end(texts *to) { to->ends[to->count++] = (uint32_t)to->used; }

/* One of these characters, or one from the first on. */
typedef struct {
  uint32_t first, count;
  uint32_t least, most; /* how many a word has */
  const char *marks[2]; /* what comes behind a word: now and then the first, else the second */
} script;

static const script latin = {'a', 26, 2, 11, {", ", " "}};
static const script arabic = {0x627, 36, 2, 9, {"\xd8\x8c ", " "}};
static const script chinese = {0x4e00, 20000, 3, 15, {"\xef\xbc\x8c", "\xe3\x80\x82"}};
static const script faces = {0x1f600, 80, 1, 3, {" ", "! "}};

/* A text in a script, exactly so many bytes: the last are spaces, where no character has room. */
static void write(texts *to, const script *in, uint64_t bytes) {
  uint64_t begin = to->used;
  uint32_t left = in->least;
  while (to->used + 4 <= begin + bytes) {
    if (left--) {
      put(to, in->first + (uint32_t)draw(to, in->count));
      continue;
    }
    const char *mark = in->marks[draw(to, 8) != 0];
    if (to->used + strlen(mark) + 4 > begin + bytes) break;
    while (*mark) to->bytes[to->used++] = (uint8_t)*mark++;
    left = in->least + (uint32_t)draw(to, in->most - in->least + 1);
  }
  while (to->used < begin + bytes) to->bytes[to->used++] = ' ';
  end(to);
}

/* A text of up to 300 bytes of which perhaps a byte is another, or the end or the start is gone. */
static void mistake(texts *to) {
  static const script *const scripts[] = {&latin, &arabic, &chinese, &faces};
  uint64_t begin = to->used, bytes = draw(to, 301);
  write(to, scripts[draw(to, 4)], bytes);
  if (bytes == 0) return;
  if (draw(to, 2)) {
    uint64_t at = begin + draw(to, bytes);
    to->bytes[at] = (uint8_t)draw(to, 256);
  }
  if (draw(to, 3) == 0) {
    uint64_t gone = draw(to, bytes < 4 ? bytes : 4);
    if (draw(to, 2)) memmove(to->bytes + begin, to->bytes + begin + gone, bytes - gone);
    to->used -= gone;
    to->ends[to->count - 1] = (uint32_t)to->used;
  }
}

/* A byte of each kind, and those between which a kind ends. */
static const uint8_t kinds[] = {0x00, 0x41, 0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0,
                                0xbf, 0xc0, 0xc1, 0xc2, 0xdf, 0xe0, 0xe1, 0xec,
                                0xed, 0xee, 0xef, 0xf0, 0xf1, 0xf4, 0xf5, 0xff};

/* Each four kinds that begin with this one, somewhere in ASCII. */
static void fours(texts *to, uint64_t first) {
  enum { count = sizeof kinds };
  for (uint64_t number = 0; number < count * count * count; number++) {
    uint64_t before = draw(to, 70), kind = draw(to, 3), after = kind * draw(to, 60);
    while (before--) to->bytes[to->used++] = 'a';
    to->bytes[to->used++] = kinds[first];
    to->bytes[to->used++] = kinds[number / (count * count)];
    to->bytes[to->used++] = kinds[number / count % count];
    to->bytes[to->used++] = kinds[number % count];
    while (after--) to->bytes[to->used++] = 'a';
    end(to);
  }
}

static int make(texts *to, const tiebreak_request *request) {
  const char *name = request->distribution;
  if (strcmp(name, "latin") == 0) {
    write(to, &latin, request->size);
  } else if (strcmp(name, "arabic") == 0) {
    write(to, &arabic, request->size);
  } else if (strcmp(name, "chinese") == 0) {
    write(to, &chinese, request->size);
  } else if (strcmp(name, "short") == 0) {
    for (uint64_t i = 0; i < request->size; i++) write(to, &arabic, 16 + draw(to, 49));
  } else if (strcmp(name, "mistakes") == 0) {
    for (uint64_t i = 0; i < request->size; i++) mistake(to);
  } else if (strcmp(name, "fours") == 0) {
    fours(to, request->part);
  } else {
    return 1;
  }
  return 0;
}

static int generate(const tiebreak_request *request, const tiebreak_sink *sink) {
  enum { most_texts = 1 << 16, most_bytes = 1 << 22 };
  texts made = {request->seed + request->part, malloc(most_bytes), 0,
                malloc(most_texts * sizeof(uint32_t)), 0};
  int failed = !made.bytes || !made.ends || make(&made, request);
  if (!failed) {
    sink->write(sink->context, &made.count, sizeof made.count);
    sink->write(sink->context, made.ends, made.count * sizeof *made.ends);
    sink->write(sink->context, made.bytes, made.used);
  }
  free(made.bytes);
  free(made.ends);
  return failed;
}

static uint32_t word(const uint8_t *input, uint64_t number) {
  uint32_t word;
  memcpy(&word, input + 4 * number, sizeof word);
  return word;
}

static uint64_t items(const tiebreak_request *request, const uint8_t *input, uint64_t input_bytes) {
  (void)request;
  return input_bytes - 4 * (1 + (uint64_t)word(input, 0));
}

/* Whether bytes are UTF-8, as RFC 3629 has it, in the words of its section 3. */
static int is_valid(const uint8_t *text, uint64_t bytes) {
  uint64_t at = 0;
  while (at < bytes) {
    uint8_t first = text[at++];
    if (first < 0x80) continue;
    if (first < 0xc0 || first > 0xf7) return 0;
    uint32_t more = first < 0xe0 ? 1 : first < 0xf0 ? 2 : 3;
    static const uint32_t least[] = {0, 0x80, 0x800, 0x10000};
    uint32_t code = first & (0x3f >> more);
    for (uint32_t i = 0; i < more; i++) {
      if (at == bytes || (text[at] & 0xc0) != 0x80) return 0;
      code = code << 6 | (text[at++] & 0x3f);
    }
    if (code < least[more] || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff)) return 0;
  }
  return 1;
}

static uint64_t output_bytes(const tiebreak_request *request, const uint8_t *input,
                             uint64_t input_bytes) {
  (void)request, (void)input_bytes;
  return 4 * (uint64_t)word(input, 0);
}

static int answer(const tiebreak_request *request, const uint8_t *input, uint64_t input_bytes,
                  const tiebreak_sink *sink, uint64_t *checksum) {
  (void)request, (void)input_bytes;
  uint64_t count = word(input, 0), begin = 0;
  const uint8_t *bytes = input + 4 * (1 + count);
  *checksum = 0;
  for (uint64_t i = 1; i <= count; i++) {
    int valid = is_valid(bytes + begin, word(input, i) - begin);
    begin = word(input, i);
    *checksum += (uint64_t)valid;
    tiebreak_write_number(sink, (uint64_t)valid);
  }
  return 0;
}

TIEBREAK_ORACLE(generate, items, output_bytes, answer);
