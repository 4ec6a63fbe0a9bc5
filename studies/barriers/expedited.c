/* membarrier(2), private and expedited, by the system call alone. */
#define _GNU_SOURCE
#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

static int heavy_prepare(void) {
  return !syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0);
}
static int heavy(void) {
  return !syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0);
}
static inline void light(void) { __asm__ __volatile__("" : : : "memory"); }

#include "frame.h"
