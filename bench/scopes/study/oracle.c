/* Random bytes, and what chain and branches make of them. */
#include "work.h"
#include <string.h>
#include <tiebreak.h>

static int generate(const tiebreak_request *request, const tiebreak_sink *sink)
{
    uint64_t state = request->seed;
    for (uint64_t i = 0; i < request->size; i++) {
        uint8_t byte = (uint8_t)(tiebreak_random(&state) >> 56);
        sink->write(sink->context, &byte, 1);
    }
    return 0;
}

static uint64_t items(const tiebreak_request *request, const uint8_t *input, uint64_t input_bytes)
{
    (void)request;
    (void)input;
    return input_bytes;
}

static uint64_t chain(const uint8_t *bytes, uint64_t count)
{
    uint64_t state = CHAIN_START;
    for (uint64_t i = 0; i < count; i++)
        state = chain_step(state, bytes[i]);
    return state;
}

/* Column by column, and the passes by hand: nothing of how branches.c does it. */
static uint64_t branches(const uint8_t *bytes, uint64_t count)
{
    uint64_t sums[4] = {0, 0, 0, 0};
    for (int pass = 0; pass < PASSES; pass++)
        for (uint64_t group = 0; group < count / 4; group++) {
            const uint8_t *four = bytes + 4 * group;
            sums[group % 2 ? 0 : 1] += four[0];
            if (group / 2 % 2) sums[2] ^= four[1]; else sums[3] += four[1];
            if (group / 4 % 2) sums[1] ^= four[2]; else sums[0] += four[2];
            if (group / 8 % 2) sums[3] ^= four[3]; else sums[2] += four[3];
        }
    return sums[0] + 3 * sums[1] + 5 * sums[2] + 7 * sums[3];
}

static int answer(const tiebreak_request *request, const uint8_t *input, uint64_t input_bytes,
                  const tiebreak_sink *sink, uint64_t *checksum)
{
    int is_branches = strcmp(request->contract, "branches") == 0;
    *checksum = is_branches ? branches(input, input_bytes) : chain(input, input_bytes);
    tiebreak_write_number(sink, *checksum);
    return 0;
}

TIEBREAK_ORACLE(generate, items, 0, answer);
