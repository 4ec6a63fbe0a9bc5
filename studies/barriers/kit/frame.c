/* The barrier of the crate tiebreak-sync in the frame. */
#define _GNU_SOURCE

extern int kit_prepare(void);
extern int kit_heavy(void);
extern void kit_light(void);

static int heavy_prepare(void) { return kit_prepare(); }
static int heavy(void) { return kit_heavy(); }
static inline void light(void) { kit_light(); }

#include "../frame.h"
