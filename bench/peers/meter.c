/* What a program needs from its first instruction on, seen from outside. Each line that is appended
 * to FILE is a name and a number.
 *
 *   meter stamp FILE              the time: "stamp NS"
 *   meter run FILE COMMAND...     the time just before COMMAND is executed: "exec NS"; and when it
 *                                 has ended the most memory that it or a child had: "peak BYTES"
 *
 * Linux counts the memory that a process had before it executed a program as that program's, so a
 * small program has to do this.
 */
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int append(const char *path, const char *name, long long value)
{
    FILE *file = fopen(path, "a");
    if (!file || fprintf(file, "%s %lld\n", name, value) < 0 || fclose(file) != 0) {
        perror(path);
        return 1;
    }
    return 0;
}

static long long now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static int run(const char *path, char **command)
{
    int status;
    struct rusage usage;
    pid_t child = fork();
    if (child == 0) {
        if (append(path, "exec", now_ns()) == 0)
            execvp(command[0], command);
        perror(command[0]);
        _exit(127);
    }
    if (child < 0 || wait4(child, &status, 0, &usage) < 0) {
        perror("meter");
        return 1;
    }
    if (append(path, "peak", usage.ru_maxrss * 1024LL) != 0)
        return 1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int main(int argc, char **argv)
{
    long long started_ns = now_ns();
    if (argc == 3 && strcmp(argv[1], "stamp") == 0)
        return append(argv[2], "stamp", started_ns);
    if (argc > 3 && strcmp(argv[1], "run") == 0)
        return run(argv[2], argv + 3);
    fprintf(stderr, "usage: meter stamp FILE | meter run FILE COMMAND...\n");
    return 64;
}
