/* The two tasks, for contestants and oracle alike: each is compiled with another name for its
 * function, so that two builds differ in nothing else. */
#ifndef WORK_H
#define WORK_H

#include <stdint.h>

/* A chain in which each step waits for the one before it. */
static inline uint64_t chain_step(uint64_t state, uint8_t byte)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state * 0x2545f4914f6cdd1du + byte;
}

#define CHAIN_START 0x9e3779b97f4a7c15u

/* How often the branches go over the input. */
#define PASSES 50

#endif
