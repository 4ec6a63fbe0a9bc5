// The source's first form: 256 values written out. A row is sixteen bytes, X one that is forbidden.
#include "frame.h"

static constexpr bool o = false, X = true;

static constexpr bool FORBIDDEN[256] = {
    X, o, o, o, o, o, o, o, o, X, X, o, o, X, o, o,  // 00
    o, o, o, o, o, o, o, o, o, o, o, o, o, o, o, o,  // 10
    X, o, o, X, o, o, o, o, o, o, o, o, o, o, o, X,  // 20
    o, o, o, o, o, o, o, o, o, o, X, o, X, o, X, X,  // 30
    X, o, o, o, o, o, o, o, o, o, o, o, o, o, o, o,  // 40
    o, o, o, o, o, o, o, o, o, o, o, X, X, X, X, o,  // 50
    o, o, o, o, o, o, o, o, o, o, o, o, o, o, o, o,  // 60
    o, o, o, o, o, o, o, o, o, o, o, o, X, o, o, o,  // 70
    o, o, o, o, o, o, o, o, o, o, o, o, o, o, o, o,  // 80
    o, o, o, o, o, o, o, o, o, o, o, o, o, o, o, o,  // 90
    o, o, o, o, o, o, o, o, o, o, o, o, o, o, o, o,  // a0
    o, o, o, o, o, o, o, o, o, o, o, o, o, o, o, o,  // b0
    o, o, o, o, o, o, o, o, o, o, o, o, o, o, o, o,  // c0
    o, o, o, o, o, o, o, o, o, o, o, o, o, o, o, o,  // d0
    o, o, o, o, o, o, o, o, o, o, o, o, o, o, o, o,  // e0
    o, o, o, o, o, o, o, o, o, o, o, o, o, o, o, o,  // f0
};

TIEBREAK_KERNEL bool is_forbidden(char byte) { return FORBIDDEN[static_cast<uint8_t>(byte)]; }

BYTE_CONTESTANT("literal table", is_forbidden);
