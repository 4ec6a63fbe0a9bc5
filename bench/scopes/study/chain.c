/* A dependency chain over the input; with MORE_PER_MILLE it goes on by so much after the answer. */
#include "work.h"
#include <tiebreak.h>

#ifndef MORE_PER_MILLE
#define MORE_PER_MILLE 0
#endif

/* An external name of its own, so that two builds are two codes to the linker. */
uint64_t WORK(const uint8_t *bytes, uint64_t count, uint64_t start);

TIEBREAK_SEPARATE uint64_t WORK(const uint8_t *bytes, uint64_t count, uint64_t start)
{
    uint64_t state = start;
    for (uint64_t i = 0; i < count; i++)
        state = chain_step(state, bytes[i]);
    return state;
}

static uint64_t run(void *state)
{
    const tiebreak_workload *work = tiebreak_launder(state);
    uint64_t answer = WORK(work->input, work->input_bytes, CHAIN_START);
    if (MORE_PER_MILLE)
        tiebreak_keep(WORK(work->input, work->input_bytes * MORE_PER_MILLE / 1000, answer));
    return answer;
}

static void dump(void *state, const tiebreak_sink *sink)
{
    tiebreak_write_number(sink, run(state));
}

TIEBREAK_CONTESTANT("chain", tiebreak_copy_workload, run, dump, free);
