// Published as "C++": std::sort.

#include "cpp_list.h"

#include <algorithm>

namespace {

uint64_t run(void *opaque) {
  auto *list = static_cast<List *>(opaque);
  std::sort(list->foos.begin(), list->foos.end());
  return list_checksum(*list);
}

} // namespace

TIEBREAK_CONTESTANT_WITH("std::sort", "", 0u, 0u, 0u, 0u, list_prepare, list_reset, run, list_dump,
                         list_release);
