// The contract "batch": one call for all paths, into one piece of memory that is there already.

#include "escape.h"
#include "paths.h"

namespace {

struct State {
  std::vector<std::string_view> paths;
  std::vector<char> arena;
  std::vector<size_t> ends;

  std::string_view escaped(size_t i) const {
    const size_t start = i == 0 ? 0 : ends[i - 1];
    return {arena.data() + start, ends[i] - start};
  }
};

void *prepare(const tiebreak_workload *workload) {
  auto *state = new State{paths_of(workload->input, workload->input_bytes), {}, {}};
  state->arena.resize(3 * workload->input_bytes + arena_slack_bytes);
  state->ends.resize(state->paths.size());
  return state;
}

uint64_t run(void *opaque) {
  State &state = *static_cast<State *>(const_cast<void *>(tiebreak_launder(opaque)));
  escape_all(state.paths.data(), state.paths.size(), state.arena.data(), state.ends.data());
  uint64_t checksum = 0;
  for (size_t i = 0; i < state.paths.size(); i++) checksum += checksum_of(state.escaped(i));
  return checksum;
}

void dump(void *opaque, const tiebreak_sink *sink) {
  const State &state = *static_cast<const State *>(opaque);
  for (size_t i = 0; i < state.paths.size(); i++) write_line(sink, state.escaped(i));
}

void release(void *opaque) { delete static_cast<State *>(opaque); }

} // namespace

TIEBREAK_CONTESTANT_WITH("percent-escape", ESCAPE_NEEDS, 0u, 0u, 0u, 0u, prepare, nullptr, run,
                         dump, release);
