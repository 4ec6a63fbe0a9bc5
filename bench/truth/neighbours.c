/* Other work on a machine, for as long as its parent lives.
 *
 *   neighbours COUNT steady    COUNT processes that never stop
 *   neighbours COUNT bursts    COUNT processes that work for up to 20 ms while walking through
 *                              16 MB, then sleep for up to 4 ms
 */
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#define BYTES (16u << 20)

static uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static uint32_t below(uint32_t *state, uint32_t bound)
{
    *state ^= *state << 13;
    *state ^= *state >> 17;
    *state ^= *state << 5;
    return *state % bound;
}

static void work(int steady, uint32_t state)
{
    volatile unsigned char *memory = malloc(BYTES);
    if (!memory)
        exit(1);
    for (uint32_t at = 0;;) {
        uint64_t end = now_ns() + below(&state, 20000000);
        while (now_ns() < end)
            for (int i = 0; i < 1000; i++, at = (at + 64) % BYTES)
                memory[at]++;
        struct timespec rest = {0, below(&state, 4000000)};
        if (!steady)
            nanosleep(&rest, NULL);
    }
}

int main(int argc, char **argv)
{
    if (argc != 3)
        return 64;
    int steady = !strcmp(argv[2], "steady");
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (uint32_t i = 1; i < (uint32_t)atoi(argv[1]); i++)
        if (!fork()) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            work(steady, 2654435761u * i);
        }
    work(steady, 88172645);
}
