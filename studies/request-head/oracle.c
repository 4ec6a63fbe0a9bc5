/* The oracle: heads of requests, one after the other. The answer is where the method, the target
 * and the name and value of each header begin and end, in bytes from the start of the input. */
#include "tiebreak.h"
#include <string.h>

/* Writes text, many bytes at a time. */
typedef struct {
  const tiebreak_sink *sink;
  uint64_t used, state;
  char bytes[4096];
} writer;

static void flush(writer *to) {
  if (to->used) to->sink->write(to->sink->context, to->bytes, to->used);
  to->used = 0;
}

static void put(writer *to, char byte) {
  to->bytes[to->used++] = byte;
  if (to->used == sizeof to->bytes) flush(to);
}

static void text(writer *to, const char *bytes) {
  while (*bytes) put(to, *bytes++);
}

/* One of so many numbers, each as likely. */
static uint64_t draw(writer *to, uint64_t count) { return tiebreak_random(&to->state) % count; }

/* Some of these characters: from the least number of them to the most. */
static void some(writer *to, const char *characters, uint64_t least, uint64_t most) {
  uint64_t kinds = strlen(characters), count = least + draw(to, most - least + 1);
  while (count--) put(to, characters[draw(to, kinds)]);
}

static const char letters[] = "abcdefghijklmnopqrstuvwxyz";
static const char base64[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

static void path(writer *to, uint64_t parts) {
  for (uint64_t i = 0; i < parts; i++) {
    put(to, '/');
    some(to, letters, 3, 12);
  }
  if (draw(to, 2)) {
    text(to, "?id=");
    some(to, "0123456789", 1, 9);
  }
}

/* What a browser asks, about 700 bytes: cookies are a third of it. */
static void browser(writer *to) {
  text(to, "GET ");
  path(to, 1 + draw(to, 4));
  text(to, ".jpg HTTP/1.1\r\nHost: www.");
  some(to, letters, 5, 20);
  text(to, ".com\r\nUser-Agent: Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 "
           "(KHTML, like Gecko) Chrome/");
  some(to, "123456789", 2, 3);
  text(to, ".0.0.0 Safari/537.36\r\nAccept: image/avif,image/webp,image/apng,image/*,*/*;q=0.8\r\n"
           "Accept-Language: en-US,en;q=0.5\r\nAccept-Encoding: gzip, deflate, br\r\n");
  if (draw(to, 2)) text(to, "DNT: 1\r\n");
  text(to, "Connection: keep-alive\r\nReferer: https://www.");
  some(to, letters, 5, 20);
  text(to, ".com");
  path(to, 1 + draw(to, 3));
  text(to, "\r\nCookie: ");
  for (uint64_t left = 3 + draw(to, 5); left--;) {
    some(to, letters, 3, 10);
    put(to, '=');
    some(to, base64, 10, 50);
    text(to, left ? "; " : "\r\n");
  }
  if (draw(to, 2)) text(to, "Cache-Control: max-age=0\r\n");
  text(to, "\r\n");
}

/* What a program asks of another, about 300 bytes. */
static void program(writer *to) {
  static const char *const methods[] = {"GET ", "HEAD ", "DELETE ", "OPTIONS "};
  text(to, methods[draw(to, 4)]);
  path(to, 2 + draw(to, 3));
  text(to, " HTTP/1.1\r\nhost: ");
  some(to, letters, 3, 15);
  text(to, ".internal:8080\r\nauthorization: Bearer ");
  some(to, base64, 40, 120);
  text(to, "\r\naccept: application/json\r\nx-request-id: ");
  some(to, "0123456789abcdef", 32, 32);
  text(to, "\r\nuser-agent: client/");
  some(to, "0123456789", 1, 2);
  text(to, ".4\r\n\r\n");
}

/* The least: about 80 bytes. */
static void small(writer *to) {
  text(to, "GET ");
  path(to, 1);
  text(to, " HTTP/1.1\r\nHost: ");
  some(to, letters, 3, 15);
  text(to, "\r\nAccept: */*\r\nUser-Agent: curl/7.88.1\r\n\r\n");
}

/* All that the standard allows and all contestants take: every byte of a name, and every one that
 * may stand in a value. */
static void odd(writer *to) {
  static const char *const after[] = {"", " ", "  ", "\t", " \t "};
  text(to, "GET ");
  path(to, 1 + draw(to, 10));
  some(to, "-._~=&%+:,;@!$'()*", 0, 70);
  text(to, draw(to, 2) ? " HTTP/1.1\r\n" : " HTTP/1.0\r\nConnection: keep-alive\r\n");
  for (uint64_t left = draw(to, 12); left--;) {
    /* No name that has a meaning begins so. */
    text(to, "x");
    some(to, "!#$%&'*+-.^_`|~0123456789ABCXYZabcxyz", 0, 1 + draw(to, 90));
    put(to, ':');
    text(to, after[draw(to, 5)]);
    put(to, '!');
    for (uint64_t count = draw(to, 1 + draw(to, 150)); count--;) {
      uint64_t byte = draw(to, 256);
      put(to, byte == '\t' || (byte >= ' ' && byte != 127) ? (char)byte : '~');
    }
    text(to, "!\r\n");
  }
  text(to, "\r\n");
}

static int generate(const tiebreak_request *request, const tiebreak_sink *sink) {
  static const struct {
    const char *name;
    void (*put)(writer *to);
    int is_same;
  } kinds[] = {
      {"browser", browser, 0}, {"same", browser, 1}, {"program", program, 0},
      {"small", small, 0},     {"odd", odd, 0},
  };
  writer to = {sink, 0, request->seed + request->part, {0}};
  for (uint64_t kind = 0; kind < sizeof kinds / sizeof *kinds; kind++) {
    if (strcmp(request->distribution, kinds[kind].name) != 0) continue;
    for (uint64_t i = 0; i < request->size; i++) {
      if (kinds[kind].is_same) to.state = request->seed;
      kinds[kind].put(&to);
    }
    flush(&to);
    return 0;
  }
  return 1;
}

/* Gives each number of the answer to `give`; returns how many messages there are. Every message is
 * known to be right, so its lines end where its ends of lines are. */
typedef struct {
  const tiebreak_sink *sink;
  uint64_t count, sum;
} numbers;

static void give(numbers *to, uint64_t number) {
  to->count++;
  to->sum += number;
  if (to->sink) tiebreak_write_number(to->sink, number);
}

static uint64_t until(const uint8_t *input, uint64_t at, uint8_t byte) {
  while (input[at] != byte) at++;
  return at;
}

static uint64_t parse(const uint8_t *input, uint64_t input_bytes, numbers *to) {
  uint64_t at = 0, messages = 0;
  for (; at < input_bytes; messages++) {
    give(to, at);
    at = until(input, at, ' ');
    give(to, at);
    give(to, at + 1);
    at = until(input, at + 1, ' ');
    give(to, at);
    at = until(input, at, '\n') + 1;
    while (input[at] != '\r') {
      give(to, at);
      at = until(input, at, ':');
      give(to, at++);
      while (input[at] == ' ' || input[at] == '\t') at++;
      give(to, at);
      at = until(input, at, '\r');
      give(to, at);
      at += 2;
    }
    at += 2;
  }
  return messages;
}

static uint64_t items(const tiebreak_request *request, const uint8_t *input, uint64_t input_bytes) {
  numbers none = {0, 0, 0};
  (void)request;
  return parse(input, input_bytes, &none);
}

static uint64_t output_bytes(const tiebreak_request *request, const uint8_t *input,
                             uint64_t input_bytes) {
  numbers counted = {0, 0, 0};
  (void)request;
  parse(input, input_bytes, &counted);
  return 4 * counted.count;
}

static int answer(const tiebreak_request *request, const uint8_t *input, uint64_t input_bytes,
                  const tiebreak_sink *sink, uint64_t *checksum) {
  numbers written = {sink, 0, 0};
  (void)request;
  parse(input, input_bytes, &written);
  *checksum = written.count;
  return 0;
}

TIEBREAK_ORACLE(generate, items, output_bytes, answer);
