/* tiebreak.h: what a contestant that is a function exports. Clean C99 and C++11.
 *
 * A contestant is a shared library with one table of functions. The laboratory loads it into a
 * worker process, hands it a workload, and times `run`. docs/manual/contestants.md has the whole
 * contract; in short:
 *
 *   - The input and the output belong to the laboratory. They outlive the state, and the input is
 *     never written. Of an input, `input_slack_bytes` more may be read past its end; of an output,
 *     `output_slack_bytes` more may be written past its end: none unless the table says so.
 *   - The state belongs to the contestant: `prepare` makes it, `release` frees it. What `dump`
 *     hands to the sink need only live for that call.
 *   - `run` does the whole workload once and may be called any number of times. It allocates only
 *     if the table has TIEBREAK_ALLOCATES, starts no threads and writes nothing but its state, its
 *     output and what it allocates.
 *   - Nothing may throw, exit or print.
 */
#ifndef TIEBREAK_H
#define TIEBREAK_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The version of everything in this file; a table of another version is refused. */
#define TIEBREAK_ABI 1u
/* The first word of every table: "tieb". */
#define TIEBREAK_MAGIC 0x62656974u

/* Flags of a contestant: `run` allocates memory. */
#define TIEBREAK_ALLOCATES 1u

#if defined(__GNUC__) || defined(__clang__)
#define TIEBREAK_EXPORT __attribute__((visibility("default")))
#else
#define TIEBREAK_EXPORT
#endif

/* A function that stays a call, as if it stood in a library of its own: of gcc's `noipa` the caller
 * learns nothing of what is in it. clang has only `noinline`, learns whether the function writes
 * memory, and may hoist a call: that is what tiebreak_launder is for. */
#if defined(__clang__)
#define TIEBREAK_SEPARATE __attribute__((noinline))
#elif defined(__GNUC__)
#define TIEBREAK_SEPARATE __attribute__((noipa))
#else
#define TIEBREAK_SEPARATE
#endif

/* A study says call = "separate" or "inlined", and its builds define TIEBREAK_INLINED for the
 * latter. A kernel is written as `TIEBREAK_KERNEL int parse(...) { ... }`: a real call per item, or
 * one that the compiler is free to inline into the loop of `run`. */
#ifdef TIEBREAK_INLINED
#define TIEBREAK_KERNEL static inline
#else
#define TIEBREAK_KERNEL static TIEBREAK_SEPARATE
#endif

/* What a contestant works on. Later versions may append fields; `struct_bytes` says how many there
 * are. */
typedef struct tiebreak_workload {
  uint32_t struct_bytes;
  uint32_t reserved;
  const uint8_t *input;
  uint64_t input_bytes;
  uint8_t *output; /* writable, of arbitrary contents before a run; NULL if the study has none */
  uint64_t output_bytes;
  uint64_t items; /* how many items the study counts in this input */
} tiebreak_workload;

/* Takes bytes: `write` may be called any number of times. */
typedef struct tiebreak_sink {
  void *context;
  void (*write)(void *context, const void *bytes, uint64_t count);
} tiebreak_sink;

/* A contestant. The library exports one as `tiebreak_contestant_table`. */
typedef struct tiebreak_contestant {
  uint32_t magic;        /* TIEBREAK_MAGIC */
  uint32_t abi;          /* TIEBREAK_ABI */
  uint32_t struct_bytes; /* sizeof(tiebreak_contestant) */
  uint32_t flags;        /* TIEBREAK_ALLOCATES, or 0 */
  const char *name;      /* for messages; the study names contestants itself */
  const char *needs;     /* CPU features as in /proc/cpuinfo, by commas; NULL or "" for none */
  uint32_t input_slack_bytes;
  uint32_t output_slack_bytes;
  uint32_t alignment_bytes; /* of input and output, a power of two up to 4096; 0 for 64 */
  uint32_t reserved;
  void *(*prepare)(const tiebreak_workload *workload); /* not timed; NULL says that it cannot */
  void (*reset)(void *state);   /* not timed, before each run; NULL if runs change nothing */
  uint64_t (*run)(void *state); /* timed; gives the checksum that the study defines */
  void (*dump)(void *state, const tiebreak_sink *sink); /* not timed, after a run: the answer */
  void (*release)(void *state); /* not timed */
} tiebreak_contestant;

/* What is asked of a study's oracle. */
typedef struct tiebreak_request {
  uint32_t struct_bytes;
  uint32_t reserved;
  const char *workload;     /* its name in study.toml */
  const char *distribution; /* as study.toml says */
  const char *contract;     /* of `answer`: the contract of the contestant that is judged */
  uint64_t size;            /* as study.toml says */
  uint64_t seed;            /* equal requests give equal bytes, on every machine */
  uint64_t part;            /* an exhaustive input comes in `parts` parts, counted from 0 */
  uint64_t parts;
} tiebreak_request;

/* A study's oracle: it makes the inputs and knows the answers. Its library exports one as
 * `tiebreak_oracle_table`. The answer is text, a line an item, in the study's canonical form, and
 * is what `dump` of a correct contestant writes, byte for byte. Functions that return int give 0
 * where all is well. */
typedef struct tiebreak_oracle {
  uint32_t magic;
  uint32_t abi;
  uint32_t struct_bytes;
  uint32_t reserved;
  int (*generate)(const tiebreak_request *request, const tiebreak_sink *sink);
  uint64_t (*items)(const tiebreak_request *request, const uint8_t *input, uint64_t input_bytes);
  /* NULL if contestants of this study have no output of the laboratory's. */
  uint64_t (*output_bytes)(const tiebreak_request *request, const uint8_t *input,
                           uint64_t input_bytes);
  int (*answer)(const tiebreak_request *request, const uint8_t *input, uint64_t input_bytes,
                const tiebreak_sink *sink, uint64_t *checksum);
} tiebreak_oracle;

extern TIEBREAK_EXPORT const tiebreak_contestant tiebreak_contestant_table;
extern TIEBREAK_EXPORT const tiebreak_oracle tiebreak_oracle_table;

/* A `prepare` for contestants whose state is the workload alone; `free` releases it. */
static inline void *tiebreak_copy_workload(const tiebreak_workload *workload) {
  tiebreak_workload *state = (tiebreak_workload *)malloc(sizeof(tiebreak_workload));
  if (state) *state = *workload;
  return state;
}

/* Writes a number and the end of a line: for dumps and answers. */
static inline void tiebreak_write_number(const tiebreak_sink *sink, uint64_t number) {
  char line[21];
  int start = 20;
  line[20] = '\n';
  do {
    line[--start] = (char)('0' + number % 10);
    number /= 10;
  } while (number);
  sink->write(sink->context, line + start, (uint64_t)(21 - start));
}

/* Definitions of the tables, at the end of a source: `TIEBREAK_CONTESTANT("sum", prepare, run,
 * dump, release);`. The long form has everything that a table can say, in its order. */
#define TIEBREAK_CONTESTANT(name, prepare, run, dump, release) \
  TIEBREAK_CONTESTANT_WITH(name, "", 0u, 0u, 0u, 0u, prepare, 0, run, dump, release)
#define TIEBREAK_CONTESTANT_WITH(name, needs, flags, input_slack_bytes, output_slack_bytes, \
                                 alignment_bytes, prepare, reset, run, dump, release) \
  const tiebreak_contestant tiebreak_contestant_table = { \
      TIEBREAK_MAGIC, TIEBREAK_ABI, (uint32_t)sizeof(tiebreak_contestant), flags, name, needs, \
      input_slack_bytes, output_slack_bytes, alignment_bytes, 0u, prepare, reset, run, dump, \
      release}
#define TIEBREAK_ORACLE(generate, items, output_bytes, answer) \
  const tiebreak_oracle tiebreak_oracle_table = { \
      TIEBREAK_MAGIC, TIEBREAK_ABI, (uint32_t)sizeof(tiebreak_oracle), 0u, generate, items, \
      output_bytes, answer}

/* The next number of a stream that is the same on every machine: SplitMix64 (Steele, Lea and
 * Flood, 2014). Start with the request's seed; for oracles. */
static inline uint64_t tiebreak_random(uint64_t *state) {
  uint64_t word = (*state += 0x9e3779b97f4a7c15u);
  word = (word ^ (word >> 30)) * 0xbf58476d1ce4e5b9u;
  word = (word ^ (word >> 27)) * 0x94d049bb133111ebu;
  return word ^ (word >> 31);
}

/* Makes inputs of bytes that `draw` gives one by one: `size` of them in the distribution with this
 * name; in `lengths`, which is for verifications, 1 to `size` of them, as the part says, and from 1
 * again. */
static inline int tiebreak_drawn_bytes(const tiebreak_request *request, const tiebreak_sink *sink,
                                       const char *name, uint8_t (*draw)(uint64_t *state)) {
  uint64_t state = request->seed + request->part, count = request->size;
  if (strcmp(request->distribution, "lengths") == 0) {
    if (count == 0) return 1;
    count = request->part % count + 1;
  } else if (strcmp(request->distribution, name) != 0) {
    return 1;
  }
  for (uint64_t i = 0; i < count; i++) {
    uint8_t byte = draw(&state);
    sink->write(sink->context, &byte, 1);
  }
  return 0;
}

/* The `generate` of `uint8_t text(uint64_t *state)`, which draws one byte: `TIEBREAK_BYTES(text);`
 * defines `text_bytes`, with the distributions `text` and `lengths`. */
#define TIEBREAK_BYTES(draw) \
  static inline int draw##_bytes(const tiebreak_request *request, const tiebreak_sink *sink) { \
    return tiebreak_drawn_bytes(request, sink, #draw, draw); \
  } \
  struct tiebreak_semicolon_after_##draw

/* A `generate` for oracles whose inputs are random bytes, in the distribution `random` and in
 * `lengths`. */
static inline uint8_t tiebreak_random_byte(uint64_t *state) {
  return (uint8_t)(tiebreak_random(state) >> 56);
}
static inline int tiebreak_random_bytes(const tiebreak_request *request,
                                        const tiebreak_sink *sink) {
  return tiebreak_drawn_bytes(request, sink, "random", tiebreak_random_byte);
}

/* Gives the pointer back as one of which the compiler knows nothing, and makes it believe that all
 * memory may have changed: a loop that passes its pointers through this does its work each time. */
#if defined(__GNUC__) || defined(__clang__)
static inline const void *tiebreak_launder(const void *pointer) {
  __asm__ __volatile__("" : "+r"(pointer) : : "memory");
  return pointer;
}
/* Makes the compiler believe that the value is used. */
static inline void tiebreak_keep(uint64_t value) {
  __asm__ __volatile__("" : : "r"(value) : "memory");
}
#endif

/* A contestant that is one function of its input: `TIEBREAK_NUMBER(sum);` at the end of a source,
 * of `uint64_t sum(const uint8_t *input, uint64_t input_bytes)`. What that returns is the answer
 * and the checksum. */
#define TIEBREAK_NUMBER(function) \
  static uint64_t tiebreak_run_number(void *state) { \
    const tiebreak_workload *workload = (const tiebreak_workload *)state; \
    const void *input = tiebreak_launder(workload->input); \
    return function((const uint8_t *)input, workload->input_bytes); \
  } \
  static void tiebreak_dump_number(void *state, const tiebreak_sink *sink) { \
    tiebreak_write_number(sink, tiebreak_run_number(state)); \
  } \
  TIEBREAK_CONTESTANT(#function, tiebreak_copy_workload, tiebreak_run_number, \
                      tiebreak_dump_number, free)
/* The oracle of such contestants, of the same function and of one that makes the inputs. Its items
 * are bytes. */
#define TIEBREAK_NUMBER_ORACLE(generate, function) \
  static uint64_t tiebreak_items(const tiebreak_request *request, const uint8_t *input, \
                                 uint64_t input_bytes) { \
    (void)request, (void)input; \
    return input_bytes; \
  } \
  static int tiebreak_answer_number(const tiebreak_request *request, const uint8_t *input, \
                                    uint64_t input_bytes, const tiebreak_sink *sink, \
                                    uint64_t *checksum) { \
    (void)request; \
    *checksum = function(input, input_bytes); \
    tiebreak_write_number(sink, *checksum); \
    return 0; \
  } \
  TIEBREAK_ORACLE(generate, tiebreak_items, 0, tiebreak_answer_number)

#ifdef __cplusplus
}
#endif

#endif
