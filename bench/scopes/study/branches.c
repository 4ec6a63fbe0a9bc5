/* Short branches that a predictor knows by heart, so that what is left is how fast instructions are
 * fetched: that depends on where the code lies. With MORE_PER_MILLE it goes on after the answer. */
#include "work.h"
#include <tiebreak.h>

#ifndef MORE_PER_MILLE
#define MORE_PER_MILLE 0
#endif

/* Keeps a branch a branch. */
#define APART __asm__ volatile("")

uint64_t WORK(const uint8_t *bytes, uint64_t count, unsigned passes);

TIEBREAK_SEPARATE uint64_t WORK(const uint8_t *bytes, uint64_t count, unsigned passes)
{
    uint64_t a = 0, b = 0, c = 0, d = 0;
    for (unsigned pass = 0; pass < passes; pass++)
        for (uint64_t i = 0; i + 4 <= count; i += 4) {
            if (i & 4) { APART; a += bytes[i]; } else { APART; b += bytes[i]; }
            if (i & 8) { APART; c ^= bytes[i + 1]; } else { APART; d += bytes[i + 1]; }
            if (i & 16) { APART; b ^= bytes[i + 2]; } else { APART; a += bytes[i + 2]; }
            if (i & 32) { APART; d ^= bytes[i + 3]; } else { APART; c += bytes[i + 3]; }
        }
    return a + 3 * b + 5 * c + 7 * d;
}

static uint64_t run(void *state)
{
    const tiebreak_workload *work = tiebreak_launder(state);
    uint64_t answer = WORK(work->input, work->input_bytes, PASSES);
    if (MORE_PER_MILLE)
        tiebreak_keep(WORK(work->input, work->input_bytes, PASSES * MORE_PER_MILLE / 1000));
    return answer;
}

static void dump(void *state, const tiebreak_sink *sink)
{
    tiebreak_write_number(sink, run(state));
}

TIEBREAK_CONTESTANT("branches", tiebreak_copy_workload, run, dump, free);
