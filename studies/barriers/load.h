/* A machine that is busy: on each CPU a process of the lowest priority that never waits. They are
 * processes of their own, so that no barrier of this process has to reach them, and they end with
 * the thread that has started them. All contestants of a process share them. */
#ifndef BARRIERS_LOAD_H
#define BARRIERS_LOAD_H

#include "clock.h"
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>

/* Contestants are libraries that know nothing of each other: the environment says who was first. */
#define LOAD_IS_HERE "TIEBREAK_BARRIERS_LOAD"

struct load {
  pid_t processes[CPU_SETSIZE]; /* those that this contestant has started */
  int count;
};

/* In the child: another program, because a copy of this process would be registered for barriers as
 * this one is. */
static void burn(int cpu, pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(1);
  stay_on(cpu);
  setpriority(PRIO_PROCESS, 0, 19);
  syscall(SYS_close_range, 3, ~0u, 0);
  execl("/bin/sh", "sh", "-c", "while :; do :; done", (char *)0);
  _exit(1);
}

static void load_end(struct load *load) {
  for (int i = 0; i < load->count; i++) {
    kill(load->processes[i], SIGKILL);
    waitpid(load->processes[i], 0, 0);
  }
  if (load->count) unsetenv(LOAD_IS_HERE);
  load->count = 0;
}

/* 1 if every CPU has its process now. */
static int load_begin(struct load *load) {
  char own[24];
  const char *here = getenv(LOAD_IS_HERE);
  pid_t parent = getpid();
  snprintf(own, sizeof own, "%d", (int)parent);
  load->count = 0;
  if (here && !strcmp(here, own)) return 1;
  cpu_set_t cpus;
  allowed_cpus(&cpus);
  for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
    if (!CPU_ISSET(cpu, &cpus)) continue;
    pid_t child = fork();
    if (child == 0) burn(cpu, parent);
    if (child < 0) {
      load_end(load);
      return 0;
    }
    load->processes[load->count++] = child;
  }
  setenv(LOAD_IS_HERE, own, 1);
  struct timespec until_they_run = {0, 50 * 1000 * 1000};
  nanosleep(&until_they_run, 0);
  return 1;
}

#endif
