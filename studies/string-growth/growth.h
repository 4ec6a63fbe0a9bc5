// What the C++ contestants of this study share. A contestant is a function
//
//     static void grow(uint64_t volume, const Look &look);
//
// that starts with an empty string, appends one 'a' after the other until the string is longer than
// `volume`, shows it once, and frees it. Of several strings the sizes add up.

#pragma once
#include "tiebreak.h"
#include <cstdint>
#include <cstdlib>
#include <cstring>

// Is shown the string. Of a call through a pointer the compiler knows nothing: the string must be
// there, whole.
struct Look {
  void (*show)(uint64_t *seen, const char *text, uint64_t size);
  uint64_t *seen;
  void operator()(const char *text, uint64_t size) const { show(seen, text, size); }
};

static void grow(uint64_t volume, const Look &look);

// The checksum: the size, and the first and the last character.
static void show_ends(uint64_t *seen, const char *text, uint64_t size) {
  const uint64_t sizes = *seen / 65536 + size;
  *seen = sizes * 65536 + uint64_t(uint8_t(text[0])) * 256 + uint8_t(text[size - 1]);
}

// The answer: the size, and how many characters from the start are an 'a'.
static void show_all(uint64_t *seen, const char *text, uint64_t size) {
  uint64_t same = 0;
  while (same < size && text[same] == 'a') same++;
  seen[0] += size;
  seen[1] += same;
}

static void *prepare(const tiebreak_workload *workload) {
  if (workload->input_bytes != sizeof(uint64_t)) return nullptr;
  void *state = malloc(sizeof(uint64_t));
  if (state) memcpy(state, workload->input, sizeof(uint64_t));
  return state;
}

static uint64_t run(void *state) {
  uint64_t seen = 0;
  void (*volatile show)(uint64_t *, const char *, uint64_t) = show_ends;
  grow(*static_cast<uint64_t *>(state), Look{show, &seen});
  return seen;
}

static void dump(void *state, const tiebreak_sink *sink) {
  uint64_t seen[2] = {0, 0};
  void (*volatile show)(uint64_t *, const char *, uint64_t) = show_all;
  grow(*static_cast<uint64_t *>(state), Look{show, seen});
  tiebreak_write_number(sink, seen[0]);
  tiebreak_write_number(sink, seen[1]);
}

TIEBREAK_CONTESTANT_WITH("string", "", TIEBREAK_ALLOCATES, 0, 0, 0, prepare, nullptr, run, dump,
                         free);
