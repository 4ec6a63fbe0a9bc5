// The loop of the published contract: a new string for each path, freed before the next.

#include "escape.h"
#include "paths.h"

namespace {

using State = std::vector<std::string_view>;

void *prepare(const tiebreak_workload *workload) {
  return new State(paths_of(workload->input, workload->input_bytes));
}

uint64_t run(void *opaque) {
  const State &paths = *static_cast<const State *>(tiebreak_launder(opaque));
  uint64_t checksum = 0;
  for (const std::string_view path : paths) checksum += checksum_of(escape(path));
  return checksum;
}

void dump(void *opaque, const tiebreak_sink *sink) {
  for (const std::string_view path : *static_cast<const State *>(opaque)) {
    write_line(sink, escape(path));
  }
}

void release(void *opaque) { delete static_cast<State *>(opaque); }

} // namespace

TIEBREAK_CONTESTANT_WITH("percent-escape", ESCAPE_NEEDS, TIEBREAK_ALLOCATES, 0u, 0u, 0u, prepare,
                         nullptr, run, dump, release);
