/* The oracle: draws the arguments, and applies sign to each lane as an integer of 64 bits.
 *
 * A distribution is a mode and a width, as in `memory-8`. The size is the bytes of an array, or the
 * rounds of a chain. In what is timed no b is 0. With `edges-` in front, for verification, the
 * arguments are each pair of the values that matter, 0 among them, and then these pairs again: of 8
 * bits all values, of 16 and 32 those around powers of two. Chains take but b from these. */
#include "task.h"

static const char *const modes[] = {[MEMORY] = "memory-", [THROUGHPUT] = "throughput-",
                                    [LATENCY] = "latency-", [DOT] = "dot-"};

/* Reads a distribution; gives 0 if there is none of that name. */
static int read(const tiebreak_request *request, task *one, int *has_edges) {
  const char *name = request->distribution;
  *has_edges = strncmp(name, "edges-", 6) == 0;
  if (*has_edges) name += 6;
  for (uint64_t mode = MEMORY; mode <= DOT; mode++) {
    const size_t length = strlen(modes[mode]);
    if (strncmp(name, modes[mode], length) != 0) continue;
    const int is_chain = mode == THROUGHPUT || mode == LATENCY;
    *one = (task){.mode = mode, .bits = strtoul(name + length, 0, 10)};
    one->rounds = is_chain ? request->size : 1;
    one->b_bytes = is_chain ? REGISTER : request->size;
    one->a_bytes = mode == THROUGHPUT ? CHAINS * REGISTER : one->b_bytes;
    if (mode == DOT) return one->bits == 8 && one->a_bytes % (4 * REGISTER) == 0;
    return (one->bits == 8 || one->bits == 16 || one->bits == 32) && one->a_bytes % REGISTER == 0;
  }
  return 0;
}

/* Lanes wrap around, so the most negative one is its own negative. */
static int64_t wrapped(int64_t value, uint64_t bits) {
  return bits == 8 ? (int8_t)value : bits == 16 ? (int16_t)value : (int32_t)value;
}

/* The values that matter, of more than 8 bits; lanes take their lower bits. */
static int64_t edge(uint64_t at) {
  static const int64_t around[] = {1,      2,      126,    127,    128,   129,   255,
                                   256,    257,    32766,  32767,  32768, 65535, 2147483647,
                                   2147483648};
  const uint64_t count = sizeof around / sizeof *around;
  if (at == 0) return 0;
  return at <= count ? around[at - 1] : -around[at - 1 - count];
}
enum { EDGES = 31 };

static int32_t draw(const task *one, int is_b, int has_edges, uint64_t at, uint64_t *state) {
  const uint64_t many = one->bits == 8 ? 256 : EDGES, which = is_b ? at % many : at / many % many;
  int64_t value = (int64_t)(tiebreak_random(state) >> 32);
  const int is_pair = one->mode == MEMORY || one->mode == DOT;
  if (has_edges && (is_b || is_pair)) value = one->bits == 8 ? (int64_t)which : edge(which);
  value = wrapped(value, one->bits);
  /* The checksum sees the last eight bytes, and relaxed forms may give anything for b = 0. */
  const uint64_t left = is_b ? one->b_bytes - at * one->bits / 8 : 0;
  if (value == 0 && is_b && one->mode != DOT && (!has_edges || left <= 8)) value = 1;
  return one->mode == DOT && value == -128 ? -127 : (int32_t)value;
}

static int generate(const tiebreak_request *request, const tiebreak_sink *sink) {
  task one;
  int has_edges;
  if (!read(request, &one, &has_edges)) return 1;
  uint64_t state = request->seed;
  sink->write(sink->context, &one, sizeof one);
  for (int is_b = 0; is_b < 2; is_b++) {
    const uint64_t bytes = is_b ? one.b_bytes : one.a_bytes, lane_bytes = one.bits / 8;
    uint8_t line[REGISTER];
    for (uint64_t at = 0; at < bytes; at += lane_bytes) {
      const int32_t lane = draw(&one, is_b, has_edges, at / lane_bytes, &state);
      memcpy(line + at % REGISTER, &lane, lane_bytes);
      if (at % REGISTER + lane_bytes == REGISTER) sink->write(sink->context, line, REGISTER);
    }
  }
  return 0;
}

static uint64_t items(const tiebreak_request *request, const uint8_t *input, uint64_t input_bytes) {
  const task *one = (const task *)(const void *)input;
  (void)request, (void)input_bytes;
  return one->rounds * (one->a_bytes / REGISTER);
}

static uint64_t output_bytes(const tiebreak_request *request, const uint8_t *input,
                             uint64_t input_bytes) {
  const task *one = (const task *)(const void *)input;
  (void)request, (void)input_bytes;
  return one->mode == DOT ? sizeof(int64_t) : one->a_bytes;
}

static int64_t sign(int64_t a, int64_t b, uint64_t bits) {
  return b == 0 ? 0 : wrapped(b < 0 ? -a : a, bits);
}

static int64_t lane(const task *one, uint64_t at, int is_limit) {
  const uint64_t b_lanes = one->b_bytes * 8 / one->bits;
  int64_t a = task_lane(task_a(one), at, one->bits);
  int64_t b = task_lane(task_b(one), at % b_lanes, one->bits);
  if (is_limit) return a;
  for (uint64_t round = 0; round < one->rounds; round++) {
    if (one->mode == LATENCY) b = sign(a, b, one->bits);
    else a = sign(a, b, one->bits);
  }
  return one->mode == LATENCY ? b : a;
}

static int answer(const tiebreak_request *request, const uint8_t *input, uint64_t input_bytes,
                  const tiebreak_sink *sink, uint64_t *checksum) {
  const task *one = (const task *)(const void *)input;
  const int is_limit = strcmp(request->contract, "limit") == 0;
  const uint64_t count = items(request, input, input_bytes), lane_bytes = one->bits / 8;
  if (one->mode == DOT) {
    int64_t total = 0;
    for (uint64_t i = 0; i < one->a_bytes; i++) {
      const int64_t a = task_lane(task_a(one), i, 8), b = task_lane(task_b(one), i, 8);
      total += is_limit && a < 0 ? -a * b : a * b;
    }
    *checksum = count + (uint64_t)total;
    tiebreak_write_number(sink, (uint64_t)total);
    return 0;
  }
  uint8_t line[REGISTER];
  for (uint64_t at = 0; at < one->a_bytes; at += REGISTER) {
    for (uint64_t k = 0; k < REGISTER; k += lane_bytes) {
      const int64_t value = lane(one, (at + k) / lane_bytes, is_limit);
      memcpy(line + k, &value, lane_bytes);
    }
    task_write(sink, line);
  }
  *checksum = task_checksum(count, line, sizeof line);
  return 0;
}

TIEBREAK_ORACLE(generate, items, output_bytes, answer);
