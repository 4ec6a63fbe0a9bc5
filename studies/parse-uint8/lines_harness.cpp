// The contract "batch": the strings of the input as lines of one text. A string that has a line
// feed in it cannot be asked for.

#include "lines.h"
#include "tiebreak.h"

#include <cstdlib>
#include <cstring>

namespace {

struct State {
  const Record *records;
  uint64_t items;
  char *text;
  size_t text_bytes;
  uint16_t *numbers;
  uint64_t count; // of lines
};

bool is_asked(const Record &record) { return memchr(record.text, '\n', record.length) == nullptr; }

void release(void *opaque) {
  auto *state = static_cast<State *>(opaque);
  free(state->text);
  free(state->numbers);
  free(state);
}

void *prepare(const tiebreak_workload *workload) {
  auto *state = static_cast<State *>(calloc(1, sizeof(State)));
  if (state == nullptr) return nullptr;
  state->records = reinterpret_cast<const Record *>(workload->input);
  state->items = workload->items;
  state->text = static_cast<char *>(calloc(state->items * sizeof(Record) + slack_bytes, 1));
  state->numbers =
      static_cast<uint16_t *>(calloc(state->items + slack_numbers, sizeof(uint16_t)));
  if (state->text == nullptr || state->numbers == nullptr) {
    release(state);
    return nullptr;
  }
  for (uint64_t i = 0; i < state->items; i++) {
    const Record &record = state->records[i];
    if (!is_asked(record)) continue;
    memcpy(state->text + state->text_bytes, record.text, record.length);
    state->text_bytes += record.length;
    state->text[state->text_bytes++] = '\n';
    state->count++;
  }
  return state;
}

uint64_t run(void *opaque) {
  const auto *state = static_cast<const State *>(tiebreak_launder(opaque));
  parse_lines(state->text, state->text_bytes, state->numbers);
  uint32_t sum = 0;
  uint32_t rejected = 0;
  for (uint64_t i = 0; i < state->count; i++) {
    rejected += state->numbers[i] >> 8;
    sum += state->numbers[i] & 255;
  }
  return sum + (static_cast<uint64_t>(rejected) << 32);
}

void dump(void *opaque, const tiebreak_sink *sink) {
  static const char digits[] = "0123456789abcdef";
  const auto *state = static_cast<const State *>(opaque);
  const uint16_t *number = state->numbers;
  for (uint64_t i = 0; i < state->items; i++) {
    char line[3] = {'.', '.', '\n'};
    if (is_asked(state->records[i])) {
      const bool valid = *number < no_number;
      line[0] = valid ? digits[*number >> 4] : '-';
      line[1] = valid ? digits[*number & 15] : '-';
      number++;
    }
    sink->write(sink->context, line, sizeof(line));
  }
}

} // namespace

#ifndef PARSE_NEEDS
#define PARSE_NEEDS ""
#endif
TIEBREAK_CONTESTANT_WITH("parse_uint8", PARSE_NEEDS, 0u, 0u, 0u, 0u, prepare, nullptr, run, dump,
                         release);
