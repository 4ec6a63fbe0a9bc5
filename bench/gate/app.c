/* The program of the made-up repository: it stirs a number, block after block.
 *
 *   app BLOCKS
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define STEPS_A_BLOCK 2000

static volatile uint64_t sink;

static uint64_t stirred(uint64_t x)
{
    for (int i = 0; i < STEPS_A_BLOCK; i++) {
        x ^= x >> 29;
        x *= 0xbf58476d1ce4e5b9u;
    }
    return x;
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        fprintf(stderr, "usage: app BLOCKS (no change yet)\n");
        return 64;
    }
    uint64_t x = 1;
    long blocks = atol(argv[1]);
    for (long i = 0; i < blocks; i++) {
        x = stirred(x | 1);
        /* change: nothing */
    }
    printf("%016" PRIx64 "\n", x);
    return 0;
}
