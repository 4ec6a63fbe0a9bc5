// The loop of the contract "borrow": a string is made only where something changes.

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
  for (const std::string_view path : paths) {
    std::string owned;
    checksum += checksum_of(escape_or_borrow(path, owned));
  }
  return checksum;
}

void dump(void *opaque, const tiebreak_sink *sink) {
  for (const std::string_view path : *static_cast<const State *>(opaque)) {
    std::string owned;
    write_line(sink, escape_or_borrow(path, owned));
  }
}

void release(void *opaque) { delete static_cast<State *>(opaque); }

} // namespace

TIEBREAK_CONTESTANT_WITH("percent-escape", ESCAPE_NEEDS, TIEBREAK_ALLOCATES, 0u, 0u, 0u, prepare,
                         nullptr, run, dump, release);
