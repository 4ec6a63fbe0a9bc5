/* Answers git's question what has changed since TOKEN, by asking watchman over its socket:
 *
 *     hook SOCKET VERSION TOKEN        run by git in the root of the tree, as core.fsmonitor
 *
 * It does what git's fsmonitor-watchman.sample does, without Perl and without a second process.
 * It fails if anything is not as it should be: git then looks at every file itself. */

#define _GNU_SOURCE /* getline, fdopen */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static _Noreturn void fail(const char *why) {
  fprintf(stderr, "hook: %s\n", why);
  exit(1);
}

static void print_quoted(FILE *to, const char *text) {
  fputc('"', to);
  for (; *text; text++) {
    if (*text == '"' || *text == '\\') fputc('\\', to);
    fputc(*text, to);
  }
  fputc('"', to);
}

/* Prints one character as UTF-8. */
static void print_utf8(unsigned code) {
  if (code < 0x80) {
    putchar((int)code);
    return;
  }
  int more = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
  putchar((int)((0xF00u >> more & 0xF0) | code >> 6 * more));
  while (more--) putchar((int)(0x80 | (code >> 6 * more & 0x3F)));
}

static unsigned hex4(const char **at) {
  char digits[5] = {0};
  for (int i = 0; i < 4; i++) {
    if (!**at) fail("an escape is cut off");
    digits[i] = *(*at)++;
  }
  return (unsigned)strtoul(digits, NULL, 16);
}

/* Prints the JSON string that begins at the quote `at`, and a zero; returns what follows it. */
static const char *print_string(const char *at) {
  for (at++; *at != '"';) {
    if (!*at) fail("a string is cut off");
    if (*at != '\\') {
      putchar(*at++);
      continue;
    }
    char escape = at[1];
    at += 2;
    static const char letters[] = "bfnrt", means[] = "\b\f\n\r\t";
    const char *letter = strchr(letters, escape);
    if (escape == 'u') {
      unsigned code = hex4(&at);
      if (code >> 10 == 0x36 && at[0] == '\\' && at[1] == 'u') {
        at += 2;
        code = 0x10000 + ((code & 0x3FF) << 10) + (hex4(&at) & 0x3FF);
      }
      print_utf8(code);
    } else if (!escape) {
      fail("an escape is cut off");
    } else {
      putchar(letter ? means[letter - letters] : escape);
    }
  }
  putchar(0);
  return at + 1;
}

/* Returns the answer to a query for names that changed after `token`, all of it, on one line. */
static char *ask(const char *path, const char *token) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  if (strlen(path) >= sizeof address.sun_path) fail("the socket's path is too long");
  strcpy(address.sun_path, path);
  int socket_fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (connect(socket_fd, (struct sockaddr *)&address, sizeof address)) fail("no watchman there");
  FILE *service = fdopen(socket_fd, "r+");
  char *tree = getcwd(NULL, 0);
  if (!service || !tree) fail("no memory, or no folder");
  fputs("[\"query\",", service);
  print_quoted(service, tree);
  fputs(",{", service);
  if (token[0] == 'c') {  /* a clock of watchman's; git has none at first */
    fputs("\"since\":", service);
    print_quoted(service, token);
    fputc(',', service);
  }
  fputs("\"fields\":[\"name\"],\"expression\":[\"not\",[\"dirname\",\".git\"]]}]\n", service);
  fflush(service);
  char *answer = NULL;
  size_t room = 0;
  if (getline(&answer, &room, service) < 0) fail("watchman said nothing");
  return answer;
}

/* Returns where the value of a key stands. No name looks like a key: its quotes are escaped. */
static const char *value(const char *answer, const char *key) {
  const char *at = strstr(answer, key);
  return at ? at + strlen(key) : NULL;
}

int main(int count, char **words) {
  if (count != 4 || strcmp(words[2], "2")) fail("expected SOCKET 2 TOKEN");
  const char *answer = ask(words[1], words[3]);
  const char *clock = value(answer, "\"clock\":");
  const char *files = value(answer, "\"files\":[");
  if (value(answer, "\"error\":") || !clock || *clock != '"' || !files) fail(answer);
  print_string(clock);
  if (value(answer, "\"is_fresh_instance\":true")) {
    fputs("/", stdout);  /* anything may have changed */
  } else {
    while (*files == '"' || *files == ',') files = *files == ',' ? files + 1 : print_string(files);
    if (*files != ']') fail("the list of files is cut off");
  }
  return fflush(stdout) ? 1 : 0;
}
