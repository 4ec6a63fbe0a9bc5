// The library itself, in an object of its own.
#include <yyjson.c>
