// A table of 256 values, a byte at a time: what llparse makes where it has no such instructions.
#include "frame.h"

SCAN_CONTESTANT("table", "", scan_table);
