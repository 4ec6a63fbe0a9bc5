/* A neighbour like a service that is asked things: it works in bursts of 1 to 20 ms of its own
 * time, log-uniform, and sleeps between them so long that it would be busy for a share DUTY of the
 * time on a CPU of its own. It reads and writes 1 MiB while it works, and ends with its parent.
 *
 *   neighbour SEED DUTY
 */
#include <math.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#define BYTES (1 << 20)
#define SHORTEST_S 0.001
#define LONGEST_S 0.020

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

static double own_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return t.tv_sec + t.tv_nsec / 1e9;
}

static void work_until(double end_s)
{
    while (own_s() < end_s)
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
    double duty = argc == 3 ? atof(argv[2]) : 0;
    if (duty <= 0 || duty >= 1)
        return 64;
    pid_t parent = getppid();
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        return 1;
    state = strtoull(argv[1], NULL, 10);
    for (;;) {
        double busy_s = SHORTEST_S * pow(LONGEST_S / SHORTEST_S, uniform());
        work_until(own_s() + busy_s);
        sleep_s(busy_s * (1 / duty - 1) * -log(uniform()));
    }
}
