/* liburcu in one of its flavours: URCU_MEMB, URCU_MB or URCU_QSBR. Its read side is inlined, which
 * _LGPL_SOURCE asks for.
 *
 * pin is rcu_read_lock, rcu_dereference, rcu_read_unlock. In qsbr, where those two are nothing, the
 * reader says after each read that it is quiescent, and is offline between runs. retire is
 * rcu_xchg_pointer and defer_rcu. */
#define _GNU_SOURCE
#define _LGPL_SOURCE
#define URCU_API_MAP
/* A reader's record is a thread-local of the library. Code that is loaded later, as a contestant
 * is, finds such a one by a call; a program that is linked with the library has it at a fixed
 * place. So each thread notes its address once, in a small thread-local at such a place. */
#include <urcu/tls-compat.h>
#undef URCU_TLS
#define URCU_TLS(name) (*name##_here)
#define HERE(type, name) \
  static _Thread_local __attribute__((tls_model("initial-exec"))) struct type *name##_here
#if defined(URCU_MEMB)
HERE(urcu_reader, urcu_memb_reader);
#include <urcu/urcu-memb.h>
#define NOTE_READER() (urcu_memb_reader_here = &urcu_memb_reader)
#elif defined(URCU_MB)
HERE(urcu_reader, urcu_mb_reader);
#include <urcu/urcu-mb.h>
#define NOTE_READER() (urcu_mb_reader_here = &urcu_mb_reader)
#else
HERE(urcu_qsbr_reader, urcu_qsbr_reader);
#include <urcu/urcu-qsbr.h>
#define NOTE_READER() (urcu_qsbr_reader_here = &urcu_qsbr_reader)
#endif
#include "tiebreak.h"
#include "writer.h"
#include <string.h>

enum { PIN, PROTECT, RETIRE, READ_WRITE };
/* More objects than this may not be there at once, in so many that are retired. */
enum { ALIVE_MAX = 20000, RETIRED_MIN = 4 * ALIVE_MAX };

typedef struct {
  uint64_t key, kind, count, number;
  _Atomic(node *) current;
  writer writer;
} State;

/* States of this thread: the library registers a thread once. */
static _Thread_local unsigned users;

static void enlist(void) {
  if (users++ > 0) return;
  NOTE_READER();
  rcu_register_thread();
  if (rcu_defer_register_thread() != 0) abort();
#ifdef URCU_QSBR
  rcu_thread_offline();
#endif
}

static void delist(void) {
  if (--users > 0) return;
  rcu_defer_unregister_thread();
  rcu_unregister_thread();
}

static inline uint64_t pin(State *it) {
  rcu_read_lock();
  uint64_t read = node_read(rcu_dereference(*(node **)&it->current));
  rcu_read_unlock();
#ifdef URCU_QSBR
  rcu_quiescent_state();
#endif
  return read;
}

static inline uint64_t retire(_Atomic(node *) *current, node *next) {
  node *old = rcu_xchg_pointer((node **)current, next);
  uint64_t read = node_read(old);
  defer_rcu(node_free, old);
  return read;
}

static void writer_register(void) { enlist(); }
static uint64_t writer_replace(_Atomic(node *) *current, node *next) {
  return retire(current, next);
}
static void writer_unregister(void) { delist(); }

static void *prepare(const tiebreak_workload *workload) {
  uint64_t words[3];
  if (workload->input_bytes < sizeof words) return NULL;
  memcpy(words, workload->input, sizeof words);
  State *it = calloc(1, sizeof *it);
  if (!it) return NULL;
  it->key = words[0];
  it->kind = words[1];
  it->count = words[2];
  atomic_store(&it->current, node_new(it->key, 0));
  enlist();
  if (it->kind == READ_WRITE && !writer_start(&it->writer, &it->current, it->key)) return NULL;
  return it;
}

static uint64_t read_all(State *it) {
  uint64_t sum = 0;
#ifdef URCU_QSBR
  rcu_thread_online();
#endif
  for (uint64_t i = 0; i < it->count; i++) {
    sum += pin((State *)tiebreak_launder(it));
    tiebreak_keep(sum);
  }
#ifdef URCU_QSBR
  rcu_thread_offline();
#endif
  return sum;
}

static uint64_t retire_all(State *it) {
  uint64_t sum = 0;
  for (uint64_t i = 0; i < it->count; i++) {
    State *same = (State *)tiebreak_launder(it);
    sum += retire(&same->current, node_new(same->key, ++same->number));
    tiebreak_keep(sum);
  }
  return sum;
}

static uint64_t run(void *state) {
  State *it = state;
  if (it->kind == RETIRE) return retire_all(it);
  if (it->kind != READ_WRITE) return read_all(it);
  writer_begin(&it->writer);
  uint64_t sum = read_all(it);
  writer_end(&it->writer);
  return sum;
}

static bool is_bounded(State *it) {
  if (it->kind != RETIRE) return true;
  atomic_store(&node_alive, 0);
  atomic_store(&node_peak, 0);
  atomic_store(&node_is_counting, 1);
  for (uint64_t retired = 0; retired < RETIRED_MIN; retired += it->count) run(it);
  atomic_store(&node_is_counting, 0);
  return atomic_load(&node_peak) <= ALIVE_MAX;
}

static void dump(void *state, const tiebreak_sink *sink) {
  tiebreak_write_number(sink, run(state));
  const char *line = is_bounded(state) ? "bounded\n" : "unbounded\n";
  sink->write(sink->context, line, strlen(line));
}

static void release(void *state) {
  State *it = state;
  if (it->kind == READ_WRITE) writer_stop(&it->writer);
  delist();
  node_free(atomic_load(&it->current));
  free(it);
}

TIEBREAK_CONTESTANT_WITH("urcu", "", TIEBREAK_ALLOCATES, 0, 0, 0, prepare, 0, run, dump, release);
