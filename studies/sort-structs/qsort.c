/* Published as "C": qsort with a function that compares. */

#include "c_list.h"

static int compared(const void *left, const void *right) {
  const Foo *l = (const Foo *)left;
  const Foo *r = (const Foo *)right;
  if (l->i < r->i) return -1;
  if (l->i > r->i) return 1;
  return strcmp(l->s, r->s);
}

static uint64_t run(void *opaque) {
  List *list = (List *)opaque;
  qsort(list->foos, list->count, sizeof(Foo), compared);
  return list_checksum(list);
}

TIEBREAK_CONTESTANT_WITH("qsort", "", TIEBREAK_ALLOCATES, 0u, 0u, 0u, list_prepare, list_reset, run,
                         list_dump, list_release);
