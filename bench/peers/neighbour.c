/* A neighbour that is busy in bursts: 5 ms to 1 s each, log-uniform, with idle times after each of
 * 7/3 of its length times Exp(1), so that it would be busy for 30% of the time on a CPU of its own.
 * It reads and writes 1 MiB while it is busy, and ends with its parent.
 *
 *   neighbour SEED
 */
#include <math.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#define BYTES (1 << 20)
#define IDLE_PER_BUSY (7.0 / 3.0)

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

static double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec / 1e9;
}

static void be_busy_until(double end_s)
{
    while (now_s() < end_s)
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
    if (argc != 2)
        return 64;
    pid_t parent = getppid();
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        return 1;
    state = strtoull(argv[1], NULL, 10);
    for (;;) {
        double busy_s = 0.005 * pow(1 / 0.005, uniform());
        be_busy_until(now_s() + busy_s);
        sleep_s(busy_s * IDLE_PER_BUSY * -log(uniform()));
    }
}
