// What the C++ contestants of this study share: the text, and where the hashes go.
#ifndef FRAME_H
#define FRAME_H

#include "tiebreak.h"
#include <string.h>

constexpr uint32_t base = 31;

// An input: this, and the text after it. A char of the source is signed.
struct Task {
  uint32_t window; // 8, 16 or 32
  uint32_t counts; // whether the windows that have a hash are counted, and not all hashes written
  uint32_t target;
  uint32_t unused;
};

constexpr uint32_t power(uint32_t exponent) {
  return exponent == 0 ? 1 : base * power(exponent - 1);
}

struct Write {
  uint32_t *into;
  inline void operator()(uint64_t at, uint32_t hash) { into[at] = hash; }
};

struct Count {
  uint32_t target;
  uint64_t found = 0;
  inline void operator()(uint64_t, uint32_t hash) { found += hash == target; }
};

// All hashes of a text by Method::hash<window>(text, how many windows, what takes them).
template <class Method, class Take>
static void hash_windows(const Task &task, const int8_t *text, uint64_t windows, Take &take) {
  switch (task.window) {
    case 8: return Method::template hash<8>(text, windows, take);
    case 16: return Method::template hash<16>(text, windows, take);
    case 32: return Method::template hash<32>(text, windows, take);
  }
}

template <class Method> static uint64_t run(void *state) {
  const tiebreak_workload *workload = (const tiebreak_workload *)state;
  Task task;
  memcpy(&task, workload->input, sizeof task);
  const int8_t *text = (const int8_t *)workload->input + sizeof task;
  if (task.counts) {
    Count count{task.target};
    hash_windows<Method>(task, text, workload->items, count);
    memcpy(workload->output, &count.found, sizeof count.found);
    return count.found;
  }
  Write write{(uint32_t *)workload->output};
  hash_windows<Method>(task, text, workload->items, write);
  return write.into[workload->items - 1];
}

static void dump(void *state, const tiebreak_sink *sink) {
  const tiebreak_workload *workload = (const tiebreak_workload *)state;
  Task task;
  memcpy(&task, workload->input, sizeof task);
  if (task.counts) return tiebreak_write_number(sink, *(const uint64_t *)workload->output);
  const uint32_t *hash = (const uint32_t *)workload->output;
  for (uint64_t i = 0; i < workload->items; i++) tiebreak_write_number(sink, hash[i]);
}

#define HASH_CONTESTANT(name, Method) \
  TIEBREAK_CONTESTANT(name, tiebreak_copy_workload, run<Method>, dump, free)

#endif
