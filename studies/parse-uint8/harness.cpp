// The loop around `parse_uint8`: a list of strings, a call for each, the sum of what comes.

#include "text.h"
#include "tiebreak.h"

#include <cstdlib>
#include <cstring>

namespace {

struct State {
  const Record *records;
  uint64_t items;
  Text *texts;
  uint64_t count; // texts; fewer than items where the contract leaves some out
};

// Whether the contract says what becomes of an item.
bool is_asked(const Record &record) {
#ifdef PARSE_UNCHECKED
  return record.length >= 1 && record.length <= 3;
#else
  (void)record;
  return true;
#endif
}

// Gives 1 where the number is valid.
inline int parsed(const Text &text, uint8_t *number) {
#ifdef PARSE_UNCHECKED
  parse_uint8(text.data, text.size, number);
  return 1;
#else
  return parse_uint8(text.data, text.size, number);
#endif
}

void *prepare(const tiebreak_workload *workload) {
  auto *state = static_cast<State *>(malloc(sizeof(State)));
  if (state == nullptr) return nullptr;
  state->records = reinterpret_cast<const Record *>(workload->input);
  state->items = workload->items;
  state->texts = static_cast<Text *>(malloc((state->items + 1) * sizeof(Text)));
  if (state->texts == nullptr) {
    free(state);
    return nullptr;
  }
  state->count = 0;
  for (uint64_t i = 0; i < state->items; i++) {
    const Record &record = state->records[i];
    if (!is_asked(record)) continue;
    Text &text = state->texts[state->count++];
    memset(text.local, 0, sizeof(text.local));
    memcpy(text.local, record.text, sizeof(record.text));
    text.data = text.local;
    text.size = record.length;
  }
  return state;
}

uint64_t run(void *opaque) {
  const auto *state = static_cast<const State *>(opaque);
  const auto *texts = static_cast<const Text *>(tiebreak_launder(state->texts));
  uint64_t sum = 0;
  uint64_t rejected = 0;
  for (const Text *text = texts, *end = texts + state->count; text != end; text++) {
    uint8_t number;
    if (parsed(*text, &number)) {
      sum += number;
    } else {
      rejected++;
    }
  }
  return sum + (rejected << 32);
}

void dump(void *opaque, const tiebreak_sink *sink) {
  static const char digits[] = "0123456789abcdef";
  const auto *state = static_cast<const State *>(opaque);
  const Text *text = state->texts;
  char lines[3 * 1024];
  size_t used = 0;
  for (uint64_t i = 0; i < state->items; i++) {
    char *line = lines + used;
    line[0] = line[1] = '.';
    line[2] = '\n';
    if (is_asked(state->records[i])) {
      uint8_t number;
      const bool valid = parsed(*text++, &number) != 0;
      line[0] = valid ? digits[number >> 4] : '-';
      line[1] = valid ? digits[number & 15] : '-';
    }
    used += 3;
    if (used == sizeof(lines) || i + 1 == state->items) {
      sink->write(sink->context, lines, used);
      used = 0;
    }
  }
}

void release(void *opaque) {
  auto *state = static_cast<State *>(opaque);
  free(state->texts);
  free(state);
}

} // namespace

#ifndef PARSE_NEEDS
#define PARSE_NEEDS ""
#endif
TIEBREAK_CONTESTANT_WITH("parse_uint8", PARSE_NEEDS, 0u, 0u, 0u, 0u, prepare, nullptr, run, dump,
                         release);
