// The oracle of this study: makes the records, and writes the lines with snprintf.
//
// The digits of a decimal number are counted without any formatter here: the contestants are held
// against the C library's, whose digits are exact for every number (glibc computes with as many
// bits as it needs).

#include "record.h"
#include "tiebreak.h"

#include <cstdio>
#include <cstring>
#include <string_view>

namespace {

const char *const words[] = {"x", "of", "fps", "draw", "frame", "memory", "texture", "vertices",
                             "particles", "resolution", "compressing"};

Record drawn(uint64_t *seed) {
  Record record{};
  const uint64_t random = tiebreak_random(seed);
  // As many digits as any other: numbers of every length occur.
  record.whole = static_cast<int32_t>(static_cast<uint32_t>(random) >> (random >> 32 & 31));
  // stb_sprintf writes this one wrongly; README.md says so, and it is not what is asked here.
  if (record.whole == INT32_MIN) record.whole = 0;
  const uint64_t mantissa = tiebreak_random(seed) >> 11;
  record.real = (static_cast<double>(mantissa) * 0x1p-53 - 0.5) * 2e6;
  const uint64_t which = tiebreak_random(seed) % (sizeof(words) / sizeof(words[0]));
  snprintf(record.word, sizeof(record.word), "%s", words[which]);
  return record;
}

// Numbers at which lengths change, and those whose last digit is hard to round.
Record edge(uint64_t index) {
  static const int32_t wholes[] = {0,   9,    10,        -1,         -9,        99,
                                   100, -100, 999999999, 1000000000, INT32_MAX, -INT32_MAX};
  static const double reals[] = {0.0,       0.5e-6, 1.5e-6, 0.9999995,      0.99999949, -0.0000004,
                                 9.9999995, 0.125,  1e-300, 999999.9999995, -999999.5,  0x1p-21};
  Record record{};
  record.whole = wholes[index % 12];
  record.real = reals[index / 12 % 12];
  snprintf(record.word, sizeof(record.word), "%s", words[index % 11]);
  return record;
}

int generate(const tiebreak_request *request, const tiebreak_sink *sink) {
  const std::string_view distribution = request->distribution;
  const bool is_edges = distribution == "edges";
  if (distribution != "integers" && distribution != "lines" && !is_edges) return 1;
  Head head{};
  head.has_words = distribution != "integers";
  sink->write(sink->context, &head, sizeof(head));
  uint64_t seed = request->seed;
  for (uint64_t i = 0; i < request->size; i++) {
    const Record record = is_edges ? edge(i) : drawn(&seed);
    sink->write(sink->context, &record, sizeof(record));
  }
  return 0;
}

uint64_t items(const tiebreak_request *, const uint8_t *, uint64_t input_bytes) {
  return (input_bytes - sizeof(Head)) / sizeof(Record);
}

int answer(const tiebreak_request *, const uint8_t *input, uint64_t input_bytes,
           const tiebreak_sink *sink, uint64_t *checksum) {
  Head head;
  memcpy(&head, input, sizeof(head));
  *checksum = 0;
  for (uint64_t at = sizeof(head); at + sizeof(Record) <= input_bytes; at += sizeof(Record)) {
    Record record;
    memcpy(&record, input + at, sizeof(record));
    char line[LINE_BYTES + 1];
    const int bytes = head.has_words
                          ? snprintf(line, sizeof(line), "%d %s %f\n", record.whole, record.word,
                                     record.real)
                          : snprintf(line, sizeof(line), "%d\n", record.whole);
    sink->write(sink->context, line, static_cast<uint64_t>(bytes));
    *checksum = checked(*checksum, line, static_cast<uint64_t>(bytes));
  }
  return 0;
}

} // namespace

TIEBREAK_ORACLE(generate, items, nullptr, answer);
