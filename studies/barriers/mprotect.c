/* The source's way before membarrier(2): take the permissions of a page in use away and give them
 * back. The kernel must make every CPU forget the page, and on x86 without INVLPGB it interrupts
 * them for that. */
#define _GNU_SOURCE
#include <sys/mman.h>

#if !defined(__x86_64__)
#error "elsewhere this is no barrier"
#endif

static volatile char *page;

static int heavy_prepare(void) {
  if (page) return 1;
  void *made = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (made == MAP_FAILED) return 0;
  page = made;
  return 1;
}
/* It is written to first: a page that is not in use is forgotten without an interrupt. */
static int heavy(void) {
  *page = 1;
  return !mprotect((void *)page, 4096, PROT_NONE) &&
         !mprotect((void *)page, 4096, PROT_READ | PROT_WRITE);
}
static inline void light(void) { __asm__ __volatile__("" : : : "memory"); }

#include "frame.h"
