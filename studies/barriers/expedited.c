/* membarrier(2), expedited, by the system call alone: private, or with -DGLOBAL global. */
#define _GNU_SOURCE
#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifdef GLOBAL
#define REGISTER MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED
#define COMMAND MEMBARRIER_CMD_GLOBAL_EXPEDITED
#else
#define REGISTER MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED
#define COMMAND MEMBARRIER_CMD_PRIVATE_EXPEDITED
#endif

static int heavy_prepare(void) { return !syscall(SYS_membarrier, REGISTER, 0, 0); }
static int heavy(void) { return !syscall(SYS_membarrier, COMMAND, 0, 0); }
static inline void light(void) { __asm__ __volatile__("" : : : "memory"); }

#include "frame.h"
