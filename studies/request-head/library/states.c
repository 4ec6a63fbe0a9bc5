/* A part of llhttp: its parts declare the same functions differently, so each is an object of its
 * own. */
#include <c/llhttp.c>
