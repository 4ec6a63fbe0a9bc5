/* CPython in this process: the lines are made by Python code, "%d %s %f\n" % (...), in the thread
 * that calls `run`. All states share one interpreter and so one lock; each thread has objects of
 * its own. The interpreter is Debian 12's. */
#define PY_SSIZE_T_CLEAN
#include <python3.11/Python.h>

#include "record.h"
#include "tiebreak.h"

#include <sched.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>

static const char code[] =
    "def integers(records):\n"
    "    return ''.join(['%d\\n' % whole for whole, word, real in records])\n"
    "def lines(records):\n"
    "    return ''.join(['%d %s %f\\n' % record for record in records])\n";

typedef struct {
  PyObject *function;
  PyObject *records;
  PyObject *text;
} state;

/* Python's lock is not fair: a thread that gives it back and takes it again at once keeps the
 * others out, for seconds. So the thread that gives it back here waits, for 10 ms at most, until
 * one that wants it has got it: threads take turns, a call each. */
static atomic_uint wanted, taken;

static PyGILState_STATE take(void) {
  atomic_fetch_add(&wanted, 1);
  const PyGILState_STATE lock = PyGILState_Ensure();
  atomic_fetch_sub(&wanted, 1);
  atomic_fetch_add(&taken, 1);
  return lock;
}

static uint64_t now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void give_back(PyGILState_STATE lock) {
  const unsigned before = atomic_load(&taken);
  PyGILState_Release(lock);
  if (atomic_load(&wanted) == 0) return;
  const uint64_t until = now_ns() + 10000000u;
  while (atomic_load(&wanted) > 0 && atomic_load(&taken) == before && now_ns() < until) {
    sched_yield();
  }
}

/* A thread of Python's own has one Python thread state for as long as it lives; this one too. */
static int keep_thread(void) {
  static __thread int is_kept;
  if (!is_kept) {
    PyGILState_Ensure();
    PyEval_SaveThread();
    is_kept = 1;
  }
  return 1;
}

/* Starts the interpreter once a process, and lets go of its lock. */
static int start(void) {
  if (Py_IsInitialized()) return keep_thread();
  PyConfig config;
  PyConfig_InitIsolatedConfig(&config);
  config.site_import = 0;
  config.write_bytecode = 0;
  const PyStatus status = Py_InitializeFromConfig(&config);
  PyConfig_Clear(&config);
  if (PyStatus_Exception(status)) return 0;
  PyEval_SaveThread();
  return keep_thread();
}

static PyObject *list(const Record *records, uint64_t items) {
  PyObject *all = PyList_New((Py_ssize_t)items);
  for (uint64_t i = 0; all && i < items; i++) {
    PyObject *one = Py_BuildValue("(isd)", (int)records[i].whole, records[i].word, records[i].real);
    if (!one) {
      Py_CLEAR(all);
    } else {
      PyList_SET_ITEM(all, (Py_ssize_t)i, one);
    }
  }
  return all;
}

static PyObject *function(const char *name) {
  PyObject *names = PyDict_New();
  if (!names) return 0;
  PyDict_SetItemString(names, "__builtins__", PyEval_GetBuiltins());
  PyObject *done = PyRun_String(code, Py_file_input, names, names);
  PyObject *found = done ? PyDict_GetItemString(names, name) : 0;
  Py_XINCREF(found);
  Py_XDECREF(done);
  Py_DECREF(names);
  return found;
}

static void let_go(state *s) {
  Py_CLEAR(s->function);
  Py_CLEAR(s->records);
  Py_CLEAR(s->text);
}

static void *prepare(const tiebreak_workload *workload) {
  if (!start()) return 0;
  state *s = (state *)calloc(1, sizeof(state));
  if (!s) return 0;
  const PyGILState_STATE lock = take();
  const Head *head = (const Head *)workload->input;
  s->function = function(head->has_words ? "lines" : "integers");
  s->records = list((const Record *)(head + 1), workload->items);
  const int is_ready = s->function && s->records;
  if (!is_ready) {
    PyErr_Clear();
    let_go(s);
  }
  give_back(lock);
  if (is_ready) return s;
  free(s);
  return 0;
}

static uint64_t run(void *opaque) {
  state *s = (state *)opaque;
  const PyGILState_STATE lock = take();
  Py_CLEAR(s->text);
  s->text = PyObject_CallOneArg(s->function, s->records);
  uint64_t sum = 0;
  Py_ssize_t bytes = 0;
  const char *line = s->text ? PyUnicode_AsUTF8AndSize(s->text, &bytes) : 0;
  if (!line) PyErr_Clear();
  for (const char *end = line + bytes; line && line < end;) {
    const char *next = (const char *)memchr(line, '\n', (size_t)(end - line)) + 1;
    sum = checked(sum, line, (uint64_t)(next - line));
    line = next;
  }
  give_back(lock);
  return sum;
}

static void dump(void *opaque, const tiebreak_sink *sink) {
  const state *s = (const state *)opaque;
  const PyGILState_STATE lock = take();
  Py_ssize_t bytes = 0;
  const char *text = s->text ? PyUnicode_AsUTF8AndSize(s->text, &bytes) : 0;
  if (text) sink->write(sink->context, text, (uint64_t)bytes);
  give_back(lock);
}

static void release(void *opaque) {
  const PyGILState_STATE lock = take();
  let_go((state *)opaque);
  give_back(lock);
  free(opaque);
}

TIEBREAK_CONTESTANT_WITH("lines", "", TIEBREAK_ALLOCATES, 0u, 0u, 0u, prepare, 0, run, dump,
                         release);
