/* A program whose time is its argument: a chain of operations that each need the one before.
 *
 *   work N             makes N steps
 *   work --steps MS    prints how many steps take about MS milliseconds
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static volatile uint64_t sink;

static void work(uint64_t steps)
{
    uint64_t x = steps | 1;
    for (uint64_t i = 0; i < steps; i++) {
        x ^= x >> 29;
        x *= 0xbf58476d1ce4e5b9u;
    }
    sink = x;
}

static double now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1e3 + t.tv_nsec / 1e6;
}

/* The least of many times: the one that nothing disturbed. */
static double least_ms(uint64_t steps)
{
    double least = 1e9;
    for (int i = 0; i < 200; i++) {
        double start = now_ms();
        work(steps);
        double took = now_ms() - start;
        least = took < least ? took : least;
    }
    return least;
}

int main(int argc, char **argv)
{
    if (argc == 3 && strcmp(argv[1], "--steps") == 0) {
        const uint64_t probe = 500000;
        printf("%.0f\n", probe * atof(argv[2]) / least_ms(probe));
        return 0;
    }
    if (argc != 2) {
        fprintf(stderr, "usage: work N | work --steps MS\n");
        return 64;
    }
    work(strtoull(argv[1], NULL, 10));
    return 0;
}
