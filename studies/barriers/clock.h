/* Time, and which CPUs there are. */
#ifndef BARRIERS_CLOCK_H
#define BARRIERS_CLOCK_H

#include <sched.h>
#include <stdint.h>
#include <time.h>
#include <unistd.h>

static uint64_t now_ns(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

/* The CPUs that may be used: those of who started this process, which is pinned to one of them. */
static void allowed_cpus(cpu_set_t *cpus) {
  CPU_ZERO(cpus);
  if (sched_getaffinity(getppid(), sizeof *cpus, cpus)) sched_getaffinity(0, sizeof *cpus, cpus);
}

/* Keeps this thread on a CPU; not zero if it cannot. */
static int stay_on(int cpu) {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(cpu, &one);
  return sched_setaffinity(0, sizeof one, &one);
}

#endif
