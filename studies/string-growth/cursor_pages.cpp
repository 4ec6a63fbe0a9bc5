// Ours, with huge pages of the system's own from 32 MiB on. Growing moves entries of the page table
// and not what is on the pages, and there are 512 times fewer pages to be given and zeroed one by
// one. Below, memory that malloc keeps from one string to the next is cheaper than any new page.
#include "cursor.h"
#include <sys/mman.h>

static const uint64_t PAGES_FROM_BYTES = 32 << 20;

static char *moved_to_pages(Room room, uint64_t bytes) {
  void *pages = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED) abort();
  madvise(pages, bytes, MADV_HUGEPAGE);
  memcpy(pages, room.start, room.bytes);
  free(room.start);
  return static_cast<char *>(pages);
}

static char *with_more_pages(Room room, uint64_t bytes) {
  void *pages = mremap(room.start, room.bytes, bytes, MREMAP_MAYMOVE);
  if (pages == MAP_FAILED) abort();
  return static_cast<char *>(pages);
}

__attribute__((noinline, cold)) static Room larger(Room room) {
  const uint64_t bytes = room.bytes ? room.bytes * 2 : 64;
  char *start;
  if (bytes < PAGES_FROM_BYTES) {
    start = static_cast<char *>(realloc(room.start, bytes));
    if (!start) abort();
  } else if (room.bytes < PAGES_FROM_BYTES) {
    start = moved_to_pages(room, bytes);
  } else {
    start = with_more_pages(room, bytes);
  }
  return Room{start, bytes};
}

static void release(Room room) {
  if (room.bytes < PAGES_FROM_BYTES) {
    free(room.start);
  } else {
    munmap(room.start, room.bytes);
  }
}
