// The library itself, in an object of its own.
#include <simdjson.cpp>
