/* A part of llhttp: its parts declare the same functions differently, so each is an object of its
 * own. */
#include <../src/native/http.c>
