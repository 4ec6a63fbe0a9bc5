/* Memory bandwidth in the manner of STREAM (McCalpin): each thread has an array of its own, all
 * meet, all go through a part of their arrays, all meet again; the time in between is that of a
 * repetition. The best of all but those of the first pass is STREAM's figure; their median stands
 * next to it, because the best of many is as far above it as they scatter. Reads, ordinary stores
 * and copies, in plain C. Useful bytes are counted: a copy counts what is read and what is written,
 * a store only what is stored.
 *
 * With one part this is STREAM as it is known. With more, each repetition takes the next part:
 * nothing of it is in a cache, and a repetition is short enough to escape interruptions sometimes,
 * also where other programs run. A copy goes from the first half of an array to the second. */

#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

enum kernel { READ, WRITE, COPY, KERNELS };
enum { KEPT_MAX = 100000 };

static const char *const NAMES[KERNELS] = {"read", "write", "copy"};

struct worker {
    pthread_t thread;
    int index, cpu;
    uint64_t *array;
    size_t part;
    double start, end;
    uint64_t sum;
};

/* Words of an array, and of what a repetition takes of it. */
static size_t words, parts;
static int threads;
static double seconds;
static atomic_int arrived, generation;
/* Bytes a second of the repetitions that count, as many as are kept. */
static double rates[KERNELS][KEPT_MAX];
static int kept[KERNELS], repetitions[KERNELS];
static int go_on;
static struct worker *workers;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + 1e-9 * t.tv_nsec;
}

/* Threads spin, as those of OpenMP do: one that sleeps is late when it is woken. Now and then they
 * let others run, which may be what they wait for. */
static void meet(void)
{
    int now = atomic_load(&generation);
    if (atomic_fetch_add(&arrived, 1) == threads - 1) {
        atomic_store(&arrived, 0);
        atomic_fetch_add(&generation, 1);
        return;
    }
    for (int spins = 1; atomic_load(&generation) == now; spins++)
        if (spins % 100000 == 0)
            sched_yield();
}

static uint64_t read_all(const uint64_t *restrict from, size_t words)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < words; i++)
        sum += from[i];
    return sum;
}

static void write_all(uint64_t *restrict to, uint64_t value, size_t words)
{
    for (size_t i = 0; i < words; i++)
        to[i] = value;
}

static void copy_all(uint64_t *restrict to, const uint64_t *restrict from, size_t words)
{
    for (size_t i = 0; i < words; i++)
        to[i] = from[i];
}

static void once(struct worker *worker, enum kernel kernel)
{
    size_t half = words / 2, count = words / parts;
    size_t first = worker->part++ % parts * count;
    uint64_t *array = worker->array;
    switch (kernel) {
    case READ: worker->sum += read_all(array + first, count); break;
    case WRITE: write_all(array + first, worker->sum, count); break;
    default: copy_all(array + half + first / 2, array + first / 2, count / 2); break;
    }
}

/* In the first pass stores replace lines of the caches that were only read, which is fast. The
 * repetition began when the first thread began and ended when the last one ended. */
static void judge(enum kernel kernel, double until)
{
    double start = workers[0].start, end = workers[0].end;
    for (int i = 1; i < threads; i++) {
        start = workers[i].start < start ? workers[i].start : start;
        end = workers[i].end > end ? workers[i].end : end;
    }
    double bytes = 8.0 * (words / parts) * threads;
    double rate = bytes / (end - start);
    int counts = ++repetitions[kernel] > (int)parts;
    if (counts && kept[kernel] < KEPT_MAX)
        rates[kernel][kept[kernel]++] = rate;
    go_on = now() < until || !counts;
}

static void *work(void *argument)
{
    struct worker *worker = argument;
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(worker->cpu, &set);
    if (sched_setaffinity(0, sizeof set, &set))
        exit(65);
    size_t bytes = words * 8;
    if (posix_memalign((void **)&worker->array, 2 << 20, bytes))
        exit(65);
    madvise(worker->array, bytes, MADV_HUGEPAGE);
    memset(worker->array, 1, bytes);
    for (int kernel = READ; kernel < KERNELS; kernel++) {
        double until = now() + seconds;
        do {
            meet();
            worker->start = now();
            once(worker, kernel);
            worker->end = now();
            meet();
            if (worker->index == 0)
                judge(kernel, until);
            meet();
        } while (go_on);
    }
    return NULL;
}

static int compare(const void *one, const void *other)
{
    double a = *(const double *)one, b = *(const double *)other;
    return (a > b) - (a < b);
}

int main(int count, char **arguments)
{
    if (count < 5) {
        fprintf(stderr, "usage: stream MIB PARTS SECONDS CPU...: MIB a thread, SECONDS a kernel\n");
        return 64;
    }
    words = strtoul(arguments[1], NULL, 10) << 17;
    parts = strtoul(arguments[2], NULL, 10);
    seconds = strtod(arguments[3], NULL);
    threads = count - 4;
    workers = calloc(threads, sizeof *workers);
    if (!words || !parts || !workers)
        return 65;
    for (int i = 0; i < threads; i++) {
        workers[i].index = i;
        workers[i].cpu = atoi(arguments[4 + i]);
        if (pthread_create(&workers[i].thread, NULL, work, &workers[i]))
            return 65;
    }
    for (int i = 0; i < threads; i++)
        pthread_join(workers[i].thread, NULL);
    for (int kernel = READ; kernel < KERNELS; kernel++) {
        double *sorted = rates[kernel];
        int last = kept[kernel] - 1;
        qsort(sorted, kept[kernel], sizeof *sorted, compare);
        printf("%s %d %.4e %.4e\n", NAMES[kernel], threads, sorted[last], sorted[last / 2]);
    }
    return workers[0].sum == 42;
}
