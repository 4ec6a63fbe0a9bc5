/* A neighbour that is busy in bursts, reads and writes 1 MiB while it is, and ends with its parent.
 *
 *   neighbour SEED
 *     Bursts of 5 ms to 1 s by the wall clock, log-uniform, with idle times after each of 7/3 of
 *     its length times Exp(1): on a CPU of its own it would be busy for 30% of the time.
 *
 *   neighbour SEED DUTY
 *     Like a service that is asked things: bursts of 1 to 20 ms of its own time, log-uniform, so
 *     that work that is put off is not dropped, and idle times by which it would be busy for the
 *     share DUTY of the time on a CPU of its own.
 */
#include <math.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#define BYTES (1 << 20)

static volatile unsigned char memory[BYTES];
static uint64_t state;

/* splitmix64 (Steele, Lea and Flood 2014), as a number in (0, 1). */
static double uniform(void)
{
    uint64_t z = state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return ((z ^ (z >> 31)) >> 11) * 0x1p-53 + 0x1p-54;
}

static double now_s(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return t.tv_sec + t.tv_nsec / 1e9;
}

static void be_busy(clockid_t clock, double seconds)
{
    double end_s = now_s(clock) + seconds;
    while (now_s(clock) < end_s)
        for (int i = 0; i < BYTES; i += 64)
            memory[i]++;
}

static void sleep_s(double seconds)
{
    struct timespec t = {(time_t)seconds, (long)((seconds - (time_t)seconds) * 1e9)};
    nanosleep(&t, NULL);
}

int main(int argc, char **argv)
{
    int is_service = argc == 3;
    double duty = is_service ? atof(argv[2]) : 0.3;
    if (argc < 2 || argc > 3 || duty <= 0 || duty >= 1)
        return 64;
    pid_t parent = getppid();
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        return 1;
    state = strtoull(argv[1], NULL, 10);
    clockid_t clock = is_service ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC;
    double shortest_s = is_service ? 0.001 : 0.005, longest_s = is_service ? 0.020 : 1;
    for (;;) {
        double busy_s = shortest_s * pow(longest_s / shortest_s, uniform());
        be_busy(clock, busy_s);
        sleep_s(busy_s * (1 / duty - 1) * -log(uniform()));
    }
}
