// What the contestants in C++ share: the names of an input, found before the clock starts, each of
// which becomes the place of the name in the list. `Names` is made once, and `id` says the place.
#ifndef IDS_H
#define IDS_H

#include "tiebreak.h"
#include <string_view>
#include <vector>

constexpr uint16_t kUnknown = 65535;

template <class Names> struct Ids {
  std::vector<std::string_view> texts;
  uint16_t *output;
  Names names;

  static void *prepare(const tiebreak_workload *workload) {
    auto *state = new Ids{{}, reinterpret_cast<uint16_t *>(workload->output), {}};
    const uint8_t *at = workload->input, *end = at + workload->input_bytes;
    for (; at < end; at += 2 + at[0] + at[1]) {
      state->texts.emplace_back(reinterpret_cast<const char *>(at) + 2, at[0]);
    }
    return state;
  }

  static uint64_t run(void *context) {
    auto *state = static_cast<Ids *>(context);
    uint16_t *out = state->output;
    uint64_t sum = 0;
    for (const std::string_view text : state->texts) sum += *out++ = state->names.id(text);
    return sum;
  }

  static void dump(void *context, const tiebreak_sink *sink) {
    const auto *state = static_cast<const Ids *>(context);
    for (size_t i = 0; i < state->texts.size(); i++) tiebreak_write_number(sink, state->output[i]);
  }

  static void release(void *context) { delete static_cast<Ids *>(context); }
};

// `flags` is TIEBREAK_ALLOCATES where `id` may ask for memory, else 0.
#define IDS_CONTESTANT(flags, Names)                                                               \
  TIEBREAK_CONTESTANT_WITH("names to ids", "", flags, 0u, 0u, 0u, Ids<Names>::prepare, nullptr,    \
                           Ids<Names>::run, Ids<Names>::dump, Ids<Names>::release)

#endif
