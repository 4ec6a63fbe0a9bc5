/* Runs a contestant that is a library in a process of its own, next to those of other runtimes: the
 * runner protocol in front of its table. Its argument is the library. tiebreak builds and starts
 * it; a contestant needs nothing for it. */
#define _GNU_SOURCE
#include "tiebreak.h"
#include <dlfcn.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const tiebreak_contestant *table;
static FILE *answers;
static void *state, *input, *output;

static void answer(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void answer(const char *format, ...) {
  va_list values;
  va_start(values, format);
  vfprintf(answers, format, values);
  va_end(values);
  fputc('\n', answers);
  fflush(answers);
}

/* The value of NAME=VALUE in a line; that of `path`, which comes last, goes to the line's end. */
static const char *field(const char *line, const char *name) {
  size_t length = strlen(name);
  for (const char *word = line; (word = strstr(word, name)); word += length) {
    if (word > line && word[-1] == ' ' && word[length] == '=') return word + length + 1;
  }
  return "";
}

static uint64_t number(const char *line, const char *name) {
  return strtoull(field(line, name), 0, 10);
}

/* Memory for a buffer with its slack; `calloc` has no alignment. */
static void *buffer(uint64_t bytes, uint64_t slack) {
  uint64_t alignment = table->alignment_bytes ? table->alignment_bytes : 64;
  uint64_t whole = (bytes + slack + alignment) / alignment * alignment;
  void *memory = aligned_alloc(alignment, whole);
  if (memory) memset(memory, 0, whole);
  return memory;
}

static void unload(void) {
  if (state) table->release(state);
  free(input);
  free(output);
  state = input = output = 0;
}

/* Reads a file whose length `bytes` gets, with the slack of an input behind it. */
static void *content(const char *path, uint64_t *bytes) {
  FILE *file = *path ? fopen(path, "rb") : 0;
  *bytes = 0;
  if (*path && !file) return 0;
  if (file && !fseek(file, 0, SEEK_END)) *bytes = (uint64_t)ftell(file);
  void *memory = buffer(*bytes, table->input_slack_bytes);
  if (file) {
    rewind(file);
    if (memory && fread(memory, 1, *bytes, file) != *bytes) {
      free(memory);
      memory = 0;
    }
    fclose(file);
  }
  return memory;
}

static void load(const char *line) {
  unload();
  tiebreak_workload workload = {0};
  workload.struct_bytes = (uint32_t)sizeof workload;
  workload.items = number(line, "items");
  workload.output_bytes = number(line, "output_bytes");
  input = content(field(line, "path"), &workload.input_bytes);
  if (!input) return answer("error cannot read the input: %s", strerror(errno));
  if (workload.output_bytes + table->output_slack_bytes) {
    output = buffer(workload.output_bytes, table->output_slack_bytes);
    if (!output) return answer("error no memory for the output");
  }
  workload.input = (const uint8_t *)input;
  workload.output = (uint8_t *)output;
  state = table->prepare(&workload);
  if (!state) return answer("error its 'prepare' gave nothing");
  answer("loaded reset=%s", table->reset ? "yes" : "no");
}

static uint64_t now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void run(uint64_t times) {
  if (!times) return answer("ran elapsed_ns=0 checksum=0");
  int differs = 0;
  uint64_t begun_ns = now_ns(), checksum = table->run(state);
  for (uint64_t i = 1; i < times; i++) differs |= table->run(state) != checksum;
  uint64_t elapsed_ns = now_ns() - begun_ns;
  if (differs) return answer("error the checksum changed from one run to the next");
  answer("ran elapsed_ns=%" PRIu64 " checksum=%" PRIu64, elapsed_ns, checksum);
}

typedef struct dumped {
  FILE *file;
  uint64_t bytes;
} dumped;

static void take(void *context, const void *bytes, uint64_t count) {
  dumped *to = (dumped *)context;
  to->bytes += fwrite(bytes, 1, count, to->file);
}

static void dump(const char *path) {
  dumped to = {fopen(path, "wb"), 0};
  if (!to.file) return answer("error cannot write the answer: %s", strerror(errno));
  tiebreak_sink sink = {&to, take};
  table->dump(state, &sink);
  if (fclose(to.file)) return answer("error cannot write the answer: %s", strerror(errno));
  answer("dumped bytes=%" PRIu64, to.bytes);
}

static void serve(const char *line) {
  if (!strncmp(line, "hello", 5)) return answer("hello 1 a process of its own");
  if (!strncmp(line, "load ", 5)) return load(line);
  int is_run = !strncmp(line, "run ", 4), is_reset = !strcmp(line, "reset");
  int is_dump = !strncmp(line, "dump ", 5);
  if (!is_run && !is_reset && !is_dump) return answer("error unknown request '%s'", line);
  if (!state) return answer("error nothing is loaded");
  if (is_run) return run(strtoull(line + 4, 0, 10));
  if (is_dump) return dump(field(line, "path"));
  if (table->reset) table->reset(state);
  answer("reset");
}

int main(int count, char **arguments) {
  /* The answers go where nothing else is printed, not even while the library is loaded. */
  int own = dup(1);
  answers = own < 0 || dup2(2, 1) < 0 ? 0 : fdopen(own, "w");
  if (!answers) return 1;
  void *library = count > 1 ? dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL) : 0;
  table = library ? (const tiebreak_contestant *)dlsym(library, "tiebreak_contestant_table") : 0;
  if (!table) {
    const char *why = count > 1 ? dlerror() : "no library is named";
    fprintf(stderr, "cannot load the contestant: %s\n", why ? why : "it has no table");
    return 1;
  }
  char *line = 0;
  size_t room = 0;
  for (ssize_t length; (length = getline(&line, &room, stdin)) > 0;) {
    if (line[length - 1] == '\n') line[length - 1] = 0;
    if (!strcmp(line, "bye")) break;
    serve(line);
  }
  unload();
  free(line);
  return 0;
}
