// stbsp_snprintf of stb_sprintf.h, in the source's list of what else can be done.

#include "record.h"

#define STB_SPRINTF_STATIC
#define STB_SPRINTF_IMPLEMENTATION
#include <stb/stb_sprintf.h>

struct Formatter {
  char *integer(char *out, const Record &record) {
    return out + stbsp_snprintf(out, LINE_BYTES + 1, "%d\n", record.whole);
  }
  char *line(char *out, const Record &record) {
    return out + stbsp_snprintf(out, LINE_BYTES + 1, "%d %s %f\n", record.whole, record.word,
                                record.real);
  }
};

#include "lines.h"
