#ifndef RELAX_H
#define RELAX_H

/* Tells the CPU that this is a loop that waits. */
static inline void relax(void) {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ __volatile__("isb");
#endif
}

#endif
