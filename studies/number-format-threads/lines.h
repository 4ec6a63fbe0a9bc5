// The loop around a formatter in C++: a line a record into one buffer of the thread's own. The
// formatter is a type `Formatter` with
//
//   char *integer(char *out, const Record &record);   "%d\n"
//   char *line(char *out, const Record &record);      "%d %s %f\n"
//
// which give the end of what they wrote, at most LINE_BYTES and a few more. Each state has a
// formatter of its own.
#ifndef NUMBER_FORMAT_LINES_H
#define NUMBER_FORMAT_LINES_H

#include "record.h"
#include "tiebreak.h"

#include <cstdlib>
#include <new>

namespace {

// As much as any formatter touches behind a line.
constexpr uint64_t room_bytes = 64;

struct State {
  const Record *records;
  uint64_t items;
  bool has_words;
  char *text;
  uint64_t bytes;
  Formatter formatter;
};

// Real calls, as if each formatter stood in a library.
TIEBREAK_KERNEL char *integer(State *state, char *out, const Record &record) {
  return state->formatter.integer(out, record);
}

TIEBREAK_KERNEL char *line(State *state, char *out, const Record &record) {
  return state->formatter.line(out, record);
}

template <char *put(State *, char *, const Record &)>
uint64_t all(State *state, const Record *records) {
  uint64_t sum = 0;
  char *out = state->text;
  for (uint64_t i = 0; i < state->items; i++) {
    char *end = put(state, out, records[i]);
    sum = checked(sum, out, static_cast<uint64_t>(end - out));
    out = end;
  }
  state->bytes = static_cast<uint64_t>(out - state->text);
  return sum;
}

uint64_t run(void *opaque) {
  auto *state = static_cast<State *>(opaque);
  const auto *records = static_cast<const Record *>(tiebreak_launder(state->records));
  return state->has_words ? all<line>(state, records) : all<integer>(state, records);
}

void dump(void *opaque, const tiebreak_sink *sink) {
  const auto *state = static_cast<const State *>(opaque);
  sink->write(sink->context, state->text, state->bytes);
}

void *prepare(const tiebreak_workload *workload) {
  auto *state = new (std::nothrow) State{};
  if (state == nullptr) return nullptr;
  state->has_words = reinterpret_cast<const Head *>(workload->input)->has_words != 0;
  state->records = reinterpret_cast<const Record *>(workload->input + sizeof(Head));
  state->items = workload->items;
  state->text = static_cast<char *>(malloc(state->items * LINE_BYTES + room_bytes));
  if (state->text == nullptr) {
    delete state;
    return nullptr;
  }
  return state;
}

void release(void *opaque) {
  auto *state = static_cast<State *>(opaque);
  free(state->text);
  delete state;
}

} // namespace

#ifndef FORMATTER_FLAGS
#define FORMATTER_FLAGS 0u
#endif
TIEBREAK_CONTESTANT_WITH("lines", "", FORMATTER_FLAGS, 0u, 0u, 0u, prepare, nullptr, run, dump,
                         release);

#endif
