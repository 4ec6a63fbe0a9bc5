/* liburcu, the flavour on membarrier(2): a grace period, which is two barriers or more and a look
 * at every reader. This thread is its one reader, and is in no section. */
#define _GNU_SOURCE
#include <urcu/urcu-memb.h>

static __thread int is_registered;

static int heavy_prepare(void) {
  if (!is_registered) urcu_memb_register_thread();
  is_registered = 1;
  return 1;
}
static int heavy(void) {
  urcu_memb_synchronize_rcu();
  return 1;
}
static inline void light(void) { __asm__ __volatile__("" : : : "memory"); }

#include "frame.h"
