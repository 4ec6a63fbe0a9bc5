/* Simulates a browser that may race its cache against the network.
 *
 * Events are discrete: requests come in page loads, cached ones queue for the disk, responses queue
 * for the link, and a policy says how long a cached request waits until the network is asked too.
 * All policies see the same day, draw by draw. Arithmetic is +, -, *, / and sqrt of doubles, which
 * IEEE 754 rounds in one way, so a seed gives the same table on every machine. Times are
 * milliseconds, sizes kB of 1000 bytes, so a rate in MB/s is one in kB/ms. */
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

enum { USAGE = 64, DATA = 65, FAULT = 70 };

_Noreturn static void fail(int status, const char *format, ...) {
  va_list words;
  va_start(words, format);
  fputs("error: ", stderr);
  vfprintf(stderr, format, words);
  fputc('\n', stderr);
  exit(status);
}

static void *room(void *old, size_t bytes) {
  void *new = realloc(old, bytes);
  if (!new) fail(FAULT, "no memory for %zu bytes", bytes);
  return new;
}

/* The decimal number that a text is; NAN if it is none. strtod alone takes 0x10, inf and spaces. */
static double decimal(const char *text) {
  char *end;
  double number = strtod(text, &end);
  bool is_decimal = *text && !*end && !text[strspn(text, "0123456789.eE+-")];
  return is_decimal ? number : NAN;
}

/* ---- What can be said on the command line ---- */

static struct {
  double requests, page, wave, spacing, pause, hits, size;
  double readers, memory, copy, seek, disk, thrash, stalls, stall;
  double rtt, server, loss, timeout, link, first, headers;
  double fixed, threshold, longest, large, throttle, window, look, saves, races, cached;
} world;

static const struct {
  const char *name;
  double *value, usual, low, high;
  const char *about;
  enum { ANY, WHOLE } kind;
} knobs[] = {
    {"requests", &world.requests, 5574, 100, 1e6, "requests of a day, at least; pages are whole",
     WHOLE},
    {"page", &world.page, 40, 1, 1000, "mean requests of a page behind its document"},
    {"wave", &world.wave, 150, 0.1, 1e5, "mean ms from a page's start to each of its 3 waves"},
    {"spacing", &world.spacing, 0.3, 0, 1e4, "mean ms between the requests of a wave"},
    {"pause", &world.pause, 10e3, 1, 1e7, "mean ms between pages"},
    {"hits", &world.hits, 0.5, 0, 1, "share of requests that the cache has"},
    {"size", &world.size, 25, 0.1, 1e5, "mean kB of a response: a product of two exponentials"},
    {"readers", &world.readers, 1, 1, 64, "reads that the cache has under way at once", WHOLE},
    {"memory", &world.memory, 0.8, 0, 1, "share of reads that the page cache answers"},
    {"copy", &world.copy, 0.3, 0, 1e3, "ms of a read from the page cache"},
    {"seek", &world.seek, 4, 0, 1e4, "mean ms, exponential, of a read from the disk"},
    {"disk", &world.disk, 100, 0.1, 1e5, "MB/s of the disk"},
    {"thrash", &world.thrash, 0, 0, 10, "a read takes this share longer for each other under way"},
    {"stalls", &world.stalls, 0.1, 0, 1, "share of pages during which others keep the disk busy"},
    {"stall", &world.stall, 100, 0, 1e5, "mean ms, exponential, that they do"},
    {"rtt", &world.rtt, 30, 0, 1e4, "ms of a round trip"},
    {"server", &world.server, 20, 0, 1e5, "mean ms, exponential, that the server takes"},
    {"loss", &world.loss, 0.01, 0, 1, "share of network answers that a lost packet delays"},
    {"timeout", &world.timeout, 200, 0, 1e5, "ms of that delay"},
    {"link", &world.link, 12, 0.01, 1e5, "MB/s of the link, which all responses share"},
    {"first", &world.first, 14.6, 0, 1e4, "kB that a server sends before it can be stopped"},
    {"headers", &world.headers, 0.5, 0, 100, "kB of a request"},
    {"fixed", &world.fixed, 20, 0, 1e6, "policy fixed: ms until it races"},
    {"threshold", &world.threshold, 8, 0, 1e6, "policy firefox: a queue as long says nothing"},
    {"longest", &world.longest, 500, 0, 1e6, "policy firefox: the longest delay, ms"},
    {"large", &world.large, 256, 0, 1e9, "policy firefox: kB from which it does not race"},
    {"throttle", &world.throttle, 10, 1, 1e6, "policy throttled: requests under way at once",
     WHOLE},
    {"window", &world.window, 256, 2, 1024, "policy ours: times that it remembers", WHOLE},
    {"look", &world.look, 1, 0.01, 1e6, "policy ours: ms after which it looks again"},
    {"saves", &world.saves, 1, 0, 100, "--judge: the part of Firefox's saving to reach"},
    {"races", &world.races, 0.5, 0, 100, "--judge: the part of Firefox's races not to exceed"},
    {"cached", &world.cached, 0, 0, 1, "--judge: 1 for the time of cached requests alone", WHOLE},
};
enum { KNOBS = sizeof knobs / sizeof *knobs };

/* ---- Chance ---- */

/* SplitMix64 (Steele, Lea, Flood 2014). */
static uint64_t mixed(uint64_t x) {
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
  x = (x ^ x >> 27) * 0x94d049bb133111eb;
  return x ^ x >> 31;
}

static double uniform(uint64_t *state) {
  return (double)(mixed(*state += 0x9e3779b97f4a7c15) >> 11) * 0x1p-53;
}

/* Mean 1, by comparisons alone (von Neumann 1951): libraries differ in logarithms' last bits. */
static double exponential(uint64_t *state) {
  for (double whole = 0;; whole++) {
    double first = uniform(state), last = first, next;
    bool odd = true;
    while ((next = uniform(state)) < last) last = next, odd = !odd;
    if (odd) return whole + first;
  }
}

/* ---- A trace of network latencies ---- */

static double *trace;
static size_t traced;

static void read_trace(const char *path) {
  const char *wanted = "a CSV file, 'latency_ms' and below it a latency a line";
  FILE *file = fopen(path, "r");
  if (!file) fail(DATA, "%s: %s; expected %s", path, strerror(errno), wanted);
  char *line = NULL;
  size_t space = 0;
  ssize_t length;
  for (size_t number = 1; (length = getline(&line, &space, file)) >= 0; number++) {
    while (length && strchr("\r\n", line[length - 1])) line[--length] = 0;
    if (number == 1) {
      if (strcmp(line, "latency_ms"))
        fail(DATA, "%s:1: '%.40s' is no title; expected 'latency_ms'", path, line);
      continue;
    }
    double latency = decimal(line);
    if (strlen(line) != (size_t)length || !(latency > 0 && latency <= 3.6e6))
      fail(DATA, "%s:%zu: '%.40s' is no latency; expected one number of ms above 0 and up to "
           "3600000, such as 12.5", path, number, line);
    trace = room(trace, (traced + 1) * sizeof *trace);
    trace[traced++] = latency;
  }
  if (ferror(file)) fail(DATA, "%s: %s; expected %s", path, strerror(errno), wanted);
  if (!traced) fail(DATA, "%s: no latency; expected %s", path, wanted);
  free(line);
  fclose(file);
}

/* ---- A day: what is drawn, the same for each policy ---- */

enum answer { NONE, CACHE, NETWORK };

struct request {
  double arrival, size, read, latency;
  bool hit, cold; /* cold: the page cache does not have it */
  bool foreign;   /* not a request: others keep the disk busy for the time `read` */
  /* What becomes of it: */
  double started, reading, asked, finished;
  size_t ahead, place; /* reads before it; where it stands in the queue of the disk */
  enum answer answer;
  bool armed, sent;
};

static struct request *requests;
static size_t count;

static struct request *another(double arrival) {
  static size_t space;
  if (count == space) requests = room(requests, (space = 2 * space + 1024) * sizeof *requests);
  requests[count] = (struct request){.arrival = arrival};
  return &requests[count++];
}

static void draw_request(double arrival, uint64_t *state) {
  struct request *r = another(arrival);
  r->hit = uniform(state) < world.hits;
  r->size = world.size * exponential(state) * exponential(state);
  double seek = world.seek * exponential(state) + r->size / world.disk;
  r->cold = uniform(state) >= world.memory;
  r->read = r->cold ? seek : world.copy;
  double served = world.rtt + world.server * exponential(state);
  if (uniform(state) < world.loss) served += world.timeout;
  double place = uniform(state);
  r->latency = traced ? trace[(size_t)(place * (double)traced)] : served;
}

static void draw_day(uint64_t seed) {
  uint64_t state = mixed(seed);
  double now = 0;
  size_t foreign = 0;
  for (count = 0; (double)(count - foreign) < world.requests;) {
    now += world.pause * exponential(&state);
    draw_request(now, &state);
    double more = world.page * exponential(&state);
    for (int wave = 0; wave < 3; wave++) {
      double at = now + world.wave * exponential(&state);
      for (double i = 0; i < more / 3; i++) {
        draw_request(at, &state);
        at += world.spacing * exponential(&state);
      }
    }
    bool stalls = uniform(&state) < world.stalls;
    double at = now + 2 * world.wave * uniform(&state), length = world.stall * exponential(&state);
    if (!stalls) continue;
    struct request *r = another(at);
    r->foreign = true;
    r->read = length;
    foreign++;
  }
}

/* ---- Events in the order of time ---- */

enum kind { ARRIVES, RACES, READ, HEADERS, LOADED };

struct event {
  double at;
  uint64_t order; /* breaks ties */
  enum kind kind;
  size_t request;
};

static struct event *heap;
static size_t events, heap_space;
static uint64_t scheduled;
static double now;

static bool sooner(const struct event *a, const struct event *b) {
  return a->at < b->at || (a->at == b->at && a->order < b->order);
}

static void schedule(double at, enum kind kind, size_t request) {
  if (events == heap_space) heap = room(heap, (heap_space = 2 * heap_space + 1024) * sizeof *heap);
  struct event new = {at, scheduled++, kind, request};
  size_t i = events++;
  for (; i && sooner(&new, &heap[(i - 1) / 2]); i = (i - 1) / 2) heap[i] = heap[(i - 1) / 2];
  heap[i] = new;
}

static struct event next_event(void) {
  struct event first = heap[0], last = heap[--events];
  size_t i = 0;
  for (size_t child; (child = 2 * i + 1) < events; i = child) {
    if (child + 1 < events && sooner(&heap[child + 1], &heap[child])) child++;
    if (!sooner(&heap[child], &last)) break;
    heap[i] = heap[child];
  }
  heap[i] = last;
  return first;
}

/* First in, first out. No request is twice in one, so one as long as the day is long enough. */
struct queue {
  size_t *at, head, tail;
};

static struct queue gate, disk, wire;
static size_t reading[64], readers, loading, under_way;
static double busy_until; /* others use the disk until then */

static void join(struct queue *queue, size_t request) { queue->at[queue->tail++] = request; }
static size_t waiting(const struct queue *queue) { return queue->tail - queue->head; }
static size_t leave(struct queue *queue) { return queue->at[queue->head++]; }

/* ---- Policies: how long a cached request waits for the cache alone ---- */

enum policy { NEVER, ALWAYS, FIXED, FIREFOX, THROTTLED, OURS, POLICIES };
static const char *const names[] = {"never", "always", "fixed", "firefox", "throttled", "ours"};
static enum policy policy;

/* Firefox's moving average of microseconds, in whole numbers as there. */
struct average {
  uint64_t weight, sum, squares, values;
};

static uint64_t mean(const struct average *a) { return a->values ? a->sum / a->values : 0; }

static uint64_t deviation(const struct average *a) {
  if (!a->values) return 0;
  uint64_t square = a->squares / a->values, lowest = mean(a) * mean(a);
  return square > lowest ? (uint64_t)sqrt((double)(square - lowest)) : 0;
}

static bool far_above(const struct average *a, uint64_t value) {
  return mean(a) && value > 2 * mean(a) + 3 * deviation(a);
}

static void add(struct average *a, uint64_t value) {
  if (a->values < a->weight) {
    a->values++;
  } else {
    a->sum -= mean(a);
    a->squares -= a->squares / a->values;
  }
  a->sum += value;
  a->squares += value * value;
}

static struct average reads, last_reads, openings;

static void firefox_learns(const struct request *r) {
  uint64_t read = (uint64_t)(1000 * (now - r->reading));
  if (!far_above(&reads, read)) add(&reads, read);
  add(&last_reads, read);
  uint64_t opening = (uint64_t)(1000 * (now - r->started));
  if ((double)r->ahead < world.threshold && !far_above(&openings, opening)) add(&openings, opening);
}

static double firefox(const struct request *r) {
  if (r->size >= world.large) return INFINITY;
  if (far_above(&reads, mean(&last_reads))) return 0;
  return fmin((double)(3 * mean(&openings) / 1000), world.longest);
}

/* Ours: remembers what reads took, from the time that the one before was done, and what the network
 * took, and asks the network as soon as the cache is expected to take longer. */
static double taken[1024], sorted[1024], answers[1024];
static size_t taken_seen, answers_seen;
static double loaded_kb, loaded_ms;

static void remember(double *ring, size_t *seen, double value) {
  ring[(*seen)++ % (size_t)world.window] = value;
}

static size_t remembered(size_t seen) { return seen < world.window ? seen : (size_t)world.window; }

static int ascending(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static double mean_of(const double *values, size_t number) {
  double sum = 0;
  for (size_t i = 0; i < number; i++) sum += values[i];
  return sum / (double)number;
}

/* What a read of this age still takes: what remembered ones did that were longer. As long again, if
 * there is none. */
static double rest(double age) {
  size_t known = remembered(taken_seen), i = known;
  double sum = 0;
  for (; i && sorted[i - 1] > age; i--) sum += sorted[i - 1] - age;
  return i == known ? age : sum / (double)(known - i);
}

static bool worth_a_race(const struct request *r) {
  if (taken_seen < 16 || answers_seen < 16) return false; /* knows too little */
  double network = mean_of(answers, remembered(answers_seen)) + r->size * loaded_ms / loaded_kb;
  double cache = 0;
  if (r->reading >= 0) return rest(now - r->reading) > network;
  for (size_t i = 0; i < readers; i++) cache += rest(now - requests[reading[i]].reading);
  double average = mean_of(sorted, remembered(taken_seen));
  cache += average * (double)(r->place - disk.head);
  return cache / world.readers + average > network;
}

static double wait_of(const struct request *r) {
  switch (policy) {
    case ALWAYS: return 0;
    case FIXED: return world.fixed;
    case FIREFOX: return firefox(r);
    case OURS: return worth_a_race(r) ? 0 : world.look;
    default: return INFINITY;
  }
}

/* ---- The browser ---- */

struct result {
  double requests, armed, raced, won, wasted_kb, bought_kb, total_ms, cached_ms;
};

static struct result result;

static void read_next(void) {
  while ((double)readers < world.readers && waiting(&disk)) {
    size_t i = leave(&disk);
    struct request *r = &requests[i];
    double slower = 1 + world.thrash * (double)readers, busy = r->cold ? busy_until - now : 0;
    reading[readers++] = i;
    r->reading = now;
    schedule(now + fmax(busy, 0) + r->read * slower, READ, i);
  }
}

static void queue_read(size_t i) {
  requests[i].ahead = readers + waiting(&disk);
  requests[i].place = disk.tail;
  requests[i].reading = -1;
  join(&disk, i);
  read_next();
}

static void ask(size_t i) {
  requests[i].asked = now;
  requests[i].sent = true;
  schedule(now + requests[i].latency, HEADERS, i);
}

static void start(size_t i) {
  struct request *r = &requests[i];
  r->started = now;
  if (!r->hit) return ask(i);
  queue_read(i);
  double wait = wait_of(r);
  r->armed = wait < INFINITY;
  if (r->armed) schedule(now + wait, RACES, i);
}

static void admit(void) {
  double most = policy == THROTTLED ? world.throttle : INFINITY;
  while (waiting(&gate) && (double)under_way < most) {
    under_way++;
    start(leave(&gate));
  }
}

static void finish(size_t i) {
  requests[i].finished = now;
  under_way--;
  admit();
}

/* What a server has sent when it hears that nobody wants it: nothing, if it hears that first. */
static double in_vain(const struct request *r, double stopped) {
  return stopped > r->asked + r->latency - world.rtt ? fmin(r->size, world.first) : 0;
}

static void was_read(size_t i) {
  struct request *r = &requests[i];
  size_t reader = 0;
  while (reading[reader] != i) reader++;
  reading[reader] = reading[--readers];
  firefox_learns(r);
  remember(taken, &taken_seen, now - r->reading);
  if (policy == OURS) {
    memcpy(sorted, taken, sizeof sorted);
    qsort(sorted, remembered(taken_seen), sizeof *sorted, ascending);
  }
  if (r->answer == NONE) {
    r->answer = CACHE;
    if (r->sent) result.wasted_kb += world.headers + in_vain(r, now);
    finish(i);
  }
  read_next();
}

static void load_next(void) {
  while (!loading && waiting(&wire)) {
    size_t i = leave(&wire);
    struct request *r = &requests[i];
    double size = r->size;
    if (r->answer == CACHE) {
      size = in_vain(r, r->finished);
    } else {
      r->answer = NETWORK;
      remember(answers, &answers_seen, now - r->asked);
      loaded_kb += size;
      loaded_ms += size / world.link;
      if (r->hit) result.bought_kb += world.headers + size;
    }
    loading++;
    schedule(now + size / world.link, LOADED, i);
  }
}

static void happens(struct event event) {
  size_t i = event.request;
  struct request *r = &requests[i];
  double wait;
  now = event.at;
  switch (event.kind) {
    case ARRIVES:
      if (r->foreign) {
        busy_until = fmax(busy_until, now + r->read);
        return;
      }
      join(&gate, i);
      return admit();
    case RACES:
      if (r->answer != NONE) return;
      wait = policy == OURS ? wait_of(r) : 0;
      return wait > 0 ? schedule(now + wait, RACES, i) : ask(i);
    case READ: return was_read(i);
    case HEADERS:
      join(&wire, i);
      return load_next();
    case LOADED:
      loading--;
      if (r->answer == NETWORK) finish(i);
      return load_next();
  }
}

/* A browser that has just started knows nothing. */
static void forget(void) {
  reads = openings = (struct average){.weight = 50};
  last_reads = (struct average){.weight = 3};
  taken_seen = answers_seen = 0;
  loaded_kb = loaded_ms = busy_until = 0;
}

/* Lives a day by a policy, and appends what each cached request took to `times`. */
static size_t live(enum policy by, double *times) {
  struct queue *queues[] = {&gate, &disk, &wire};
  for (int i = 0; i < 3; i++) {
    queues[i]->at = room(queues[i]->at, count * sizeof(size_t));
    queues[i]->head = queues[i]->tail = 0;
  }
  policy = by;
  forget();
  scheduled = 0;
  for (size_t i = 0; i < count; i++) {
    struct request *r = &requests[i];
    *r = (struct request){r->arrival, r->size, r->read, r->latency, r->hit, r->cold, r->foreign};
    schedule(r->arrival, ARRIVES, i);
  }
  while (events) happens(next_event());
  size_t hits = 0;
  for (size_t i = 0; i < count; i++) {
    const struct request *r = &requests[i];
    if (r->foreign) continue;
    result.requests++;
    result.total_ms += r->finished - r->arrival;
    if (!r->hit) continue;
    result.cached_ms += r->finished - r->arrival;
    result.armed += r->armed;
    result.raced += r->sent;
    result.won += r->answer == NETWORK;
    times[hits++] = r->finished - r->arrival;
  }
  return hits;
}

/* ---- What is reported ---- */

struct summary {
  struct result result;
  double p50, p95, p99; /* of the times of cached requests, ms */
};

static struct summary summary(enum policy by, uint64_t seed, size_t days) {
  static double *times;
  size_t hits = 0;
  result = (struct result){};
  for (size_t day = 0; day < days; day++) {
    draw_day(seed + day);
    times = room(times, (hits + count) * sizeof *times);
    hits += live(by, times + hits);
  }
  struct summary s = {.result = result};
  qsort(times, hits, sizeof *times, ascending);
  if (hits) {
    s.p50 = times[hits / 2];
    s.p95 = times[hits * 95 / 100];
    s.p99 = times[hits * 99 / 100];
  }
  return s;
}

static double share(double part, double of) { return of ? 100 * part / of : 0; }

static void print_table(uint64_t seed, size_t days, enum policy first, enum policy last) {
  puts("policy,armed,raced,won of raced,MB wasted,MB bought,ms saved at p50,ms saved at p95,"
       "ms saved at p99,s saved in all");
  struct summary never = summary(NEVER, seed, days);
  for (enum policy by = first; by <= last; by++) {
    struct summary s = summary(by, seed, days);
    struct result r = s.result;
    double a_day = 1000 * (double)days;
    printf("%s,%.2f%%,%.2f%%,%.2f%%,%.2f,%.2f,%.3f,%.3f,%.3f,%.3f\n", names[by],
           share(r.armed, r.requests), share(r.raced, r.requests), share(r.won, r.raced),
           r.wasted_kb / a_day, r.bought_kb / a_day, never.p50 - s.p50, never.p95 - s.p95,
           never.p99 - s.p99, (never.result.total_ms - r.total_ms) / a_day);
  }
}

/* Whether a policy saves at least a part of what Firefox's does for at most a part of its races. */
static bool judge(enum policy by, uint64_t seed, size_t days) {
  const enum policy judged[] = {NEVER, FIREFOX, by};
  double races[3], took[3];
  for (int i = 0; i < 3; i++) {
    struct result r = summary(judged[i], seed, days).result;
    races[i] = r.raced;
    took[i] = world.cached > 0 ? r.cached_ms : r.total_ms;
    printf("%s: %.0f races, %.3f ms saved\n", names[judged[i]], races[i], took[0] - took[i]);
  }
  return took[0] - took[2] >= world.saves * (took[0] - took[1]) &&
         races[2] <= world.races * races[1];
}

static void help(void) {
  puts("Simulates a browser that may race its cache against the network.\n\n"
       "  model --table       a line of CSV for each policy (so too without it)\n"
       "  model --judge NAME  succeeds if it saves at least --saves of what firefox does,\n"
       "                      in all, for at most --races of its races; exit status 1 if not\n"
       "  --policy NAME       its line of the table alone\n"
       "  --seed NUMBER       the draws; from the system, and printed, if left out\n"
       "  --days NUMBER       days of one browser start each, together [1]\n"
       "  --trace FILE.csv    a line 'latency_ms', and below it a latency of the network a line,\n"
       "                      in place of rtt, server and loss; a round trip is then the least\n"
       "                      of them, unless --rtt says another\n");
  for (int i = 0; i < KNOBS; i++)
    printf("  --%-11s %s [%g]\n", knobs[i].name, knobs[i].about, knobs[i].usual);
}

static uint64_t whole(const char *option, const char *word, uint64_t low) {
  char *end;
  errno = 0;
  uint64_t value = strtoull(word, &end, 10);
  if (*word < '0' || *word > '9' || *end || errno || value < low)
    fail(USAGE, "--%s: '%s'; expected a whole number from %ju on", option, word, (uintmax_t)low);
  return value;
}

static enum policy named(const char *option, const char *word) {
  for (enum policy by = NEVER; by < POLICIES; by++)
    if (!strcmp(names[by], word)) return by;
  fail(USAGE, "--%s: '%s'; expected never, always, fixed, firefox, throttled or ours", option,
       word);
}

static void turn(const char *option, const char *word) {
  for (int i = 0; i < KNOBS; i++) {
    if (strcmp(knobs[i].name, option)) continue;
    double value = *knobs[i].value = decimal(word);
    bool is_whole = value == floor(value), any = knobs[i].kind == ANY;
    if (!(value >= knobs[i].low && value <= knobs[i].high) || !(any || is_whole))
      fail(USAGE, "--%s: '%s'; expected a %snumber from %g to %g", option, word,
           any ? "" : "whole ", knobs[i].low, knobs[i].high);
    return;
  }
  fail(USAGE, "'--%s' is no option; --help lists them", option);
}

int main(int words, char **word) {
  bool judging = false, alone = false, seeded = false, has_rtt = false;
  enum policy first = NEVER, last = POLICIES - 1;
  uint64_t seed = 0, days = 1;
  for (int i = 0; i < KNOBS; i++) *knobs[i].value = knobs[i].usual;
  for (int i = 1; i < words; i++) {
    if (strncmp(word[i], "--", 2)) fail(USAGE, "'%s'; expected an option, as --table", word[i]);
    const char *option = word[i] + 2;
    if (!strcmp(option, "help")) return help(), 0;
    if (!strcmp(option, "table")) continue;
    if (++i == words) fail(USAGE, "'--%s' has no value, or is no option; see --help", option);
    if (!strcmp(option, "judge")) first = named(option, word[i]), judging = true;
    else if (!strcmp(option, "policy")) first = last = named(option, word[i]), alone = true;
    else if (!strcmp(option, "seed")) seed = whole(option, word[i], 0), seeded = true;
    else if (!strcmp(option, "days")) days = whole(option, word[i], 1);
    else if (!strcmp(option, "trace")) read_trace(word[i]);
    else turn(option, word[i]), has_rtt |= !strcmp(option, "rtt");
  }
  if (traced && !has_rtt) {
    world.rtt = trace[0];
    for (size_t i = 1; i < traced; i++) world.rtt = fmin(world.rtt, trace[i]);
  }
  if (!seeded) {
    if (getrandom(&seed, sizeof seed, 0) != sizeof seed) fail(FAULT, "the system gives no seed");
    fprintf(stderr, "--seed %ju\n", (uintmax_t)seed);
  }
  if (judging && alone) fail(USAGE, "--judge and --policy; expected one of them");
  if (judging) return judge(first, seed, days) ? 0 : 1;
  print_table(seed, days, first, last);
  return ferror(stdout) || fflush(stdout) ? FAULT : 0;
}
