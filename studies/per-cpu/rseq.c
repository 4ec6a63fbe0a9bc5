/* A counter for each CPU by a restartable sequence, by hand, on the registration of glibc (2.35 and
 * later). Its slots are an array that the compiler knows, where kit/sync has a pointer to one. What
 * is added: see oracle.c. */
#define _GNU_SOURCE
#include "tiebreak.h"
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/rseq.h>

#if !defined(__x86_64__) || RSEQ_SIG != 0x53053053
#error "this section is written for x86-64"
#endif

#define CPUS 1024u

static struct {
  _Alignas(128) _Atomic uint64_t count;
} slots[CPUS];
/* What all runs of all threads should have added. */
static _Atomic uint64_t expected;

static inline struct rseq *area_of_thread(void) {
  return (struct rseq *)((char *)__builtin_thread_pointer() + __rseq_offset);
}

/* The number of the CPU is looked up before the section and compared in it. */
static inline void add(uint64_t amount) {
  for (;;) {
    struct rseq *area = area_of_thread();
    uint32_t cpu = *(volatile uint32_t *)&area->cpu_id;
    if (cpu >= CPUS) abort();
    __asm__ goto(
        ".pushsection .data.rel.ro.rseq_by_hand, \"aw\", @progbits\n"
        ".balign 32\n"
        "3: .long 0, 0\n"
        ".quad 1f, 2f - 1f, 4f\n"
        ".popsection\n"
        "leaq 3b(%%rip), %%rax\n"
        "movq %%rax, %[rseq_cs]\n"
        "1:\n"
        "cmpl %[cpu], %[cpu_id]\n"
        "jne 4f\n"
        "addq %[amount], %[count]\n"
        "2:\n"
        ".pushsection .text.unlikely.rseq_by_hand, \"ax\", @progbits\n"
        ".byte 0x0f, 0xb9, 0x3d\n"
        ".long 0x53053053\n"
        "4: jmp %l[again]\n"
        ".popsection\n"
        :
        : [rseq_cs] "m"(area->rseq_cs), [cpu_id] "m"(area->cpu_id), [cpu] "r"(cpu),
          [count] "m"(slots[cpu].count), [amount] "er"(amount)
        : "memory", "cc", "rax"
        : again);
    return;
  again:;
  }
}

typedef struct {
  tiebreak_workload workload;
  uint64_t sum;
} state;

static void *prepare(const tiebreak_workload *workload) {
  if (__rseq_size == 0) return NULL;
  state *made = malloc(sizeof(state));
  if (made) *made = (state){.workload = *workload};
  return made;
}

static uint64_t run(void *at) {
  state *it = at;
  uint64_t sum = 0, hash = 0;
  const uint8_t *bytes = it->workload.input + 1, *end = bytes + it->workload.input_bytes - 1;
  if (it->workload.input[0]) {
    for (; bytes != end; bytes++) {
      hash ^= *bytes;
      for (int turn = 0; turn < 5; turn++) hash = (hash ^ hash >> 32) * 0x9e3779b97f4a7c15u;
      add(hash >> 56);
      sum += hash >> 56;
    }
  } else {
    for (; bytes != end; bytes++) {
      add(*bytes);
      sum += *bytes;
    }
  }
  /* The kernel must not look for the descriptor once this library is gone. */
  __asm__ volatile("movq $0, %0" : "=m"(area_of_thread()->rseq_cs));
  it->sum = sum;
  atomic_fetch_add_explicit(&expected, sum, memory_order_relaxed);
  return sum;
}

/* The sum of a run, and what the counter is off by. */
static void dump(void *at, const tiebreak_sink *sink) {
  uint64_t counted = 0;
  for (unsigned cpu = 0; cpu < CPUS; cpu++) counted += slots[cpu].count;
  tiebreak_write_number(sink, ((state *)at)->sum + counted - expected);
}

TIEBREAK_CONTESTANT("counter", prepare, run, dump, free);
