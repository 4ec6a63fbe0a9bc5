// The library itself, in an object of its own.
#include <boost/json/src.hpp>
