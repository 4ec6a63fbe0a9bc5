/* Takes pages from the kernel in each call, and gives them back. */
#include <sys/mman.h>
#include "tiebreak.h"

TIEBREAK_KERNEL uint64_t sum(const uint8_t *bytes, uint64_t count) {
  const int access = PROT_READ | PROT_WRITE, kind = MAP_PRIVATE | MAP_ANONYMOUS;
  uint8_t *pages = mmap(0, count + 1, access, kind, -1, 0);
  if (pages == MAP_FAILED) return 0;
  memcpy(pages, bytes, count);
  uint64_t sum = 0;
  for (uint64_t i = 0; i < count; i++) sum += pages[i];
  munmap(pages, count + 1);
  return sum;
}

static uint64_t run(void *state) {
  const tiebreak_workload *workload = (const tiebreak_workload *)state;
  return sum((const uint8_t *)tiebreak_launder(workload->input), workload->input_bytes);
}

static void dump(void *state, const tiebreak_sink *sink) {
  tiebreak_write_number(sink, run(state));
}

TIEBREAK_CONTESTANT_WITH("own-pages", "", TIEBREAK_ALLOCATES, 0u, 0u, 0u, tiebreak_copy_workload, 0,
                         run, dump, free);
