/* The list of the contestants that sort the struct of the source's C program: a number and a
 * pointer to 100 bytes of its own for the string. */
#ifndef SORT_STRUCTS_C_LIST_H
#define SORT_STRUCTS_C_LIST_H

#include "answer.h"

#include <stddef.h>
#include <stdlib.h>

typedef struct Foo {
  int i;
  char *s;
} Foo;

typedef struct List {
  size_t count;
  Foo *foos;
  Foo *unsorted;
} List;

static void list_release(void *opaque) {
  List *list = (List *)opaque;
  size_t k;
  for (k = 0; k < list->count && list->unsorted; k++) free(list->unsorted[k].s);
  free(list->foos);
  free(list->unsorted);
  free(list);
}

static void list_reset(void *opaque) {
  List *list = (List *)opaque;
  memcpy(list->foos, list->unsorted, list->count * sizeof(Foo));
}

static void *list_prepare(const tiebreak_workload *workload) {
  List *list = (List *)calloc(1, sizeof(List));
  const size_t count = (size_t)workload->items;
  size_t k;
  if (!list) return NULL;
  list->foos = (Foo *)malloc((count + 1) * sizeof(Foo));
  list->unsorted = (Foo *)calloc(count + 1, sizeof(Foo));
  list->count = count;
  for (k = 0; k < count && list->foos && list->unsorted; k++) {
    int32_t pair[2];
    memcpy(pair, workload->input + 8 * k, sizeof(pair));
    list->unsorted[k].i = pair[0];
    list->unsorted[k].s = (char *)malloc(100);
    if (!list->unsorted[k].s) break;
    sprintf(list->unsorted[k].s, "foo%ufoo", (unsigned)pair[1]);
  }
  if (!list->foos || !list->unsorted || k < count) {
    list_release(list);
    return NULL;
  }
  list_reset(list);
  return list;
}

static uint64_t list_checksum(const List *list) {
  uint64_t sum = CHECKSUM_START;
  uint64_t k;
  for (k = 0; k <= CHECKSUM_PLACES && list->count > 0; k++) {
    const Foo *foo = &list->foos[checksum_place(k, list->count)];
    sum = checksum_add(sum, foo->i, foo->s, strlen(foo->s));
  }
  return sum;
}

static void list_dump(void *opaque, const tiebreak_sink *sink) {
  const List *list = (const List *)opaque;
  size_t k;
  for (k = 0; k < list->count; k++) write_line(sink, list->foos[k].i, list->foos[k].s);
}

#endif
