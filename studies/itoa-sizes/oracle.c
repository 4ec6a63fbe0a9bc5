/* As the study of mixes has it; its distribution `digits` is that of this one. */
#include "../itoa-mixes/oracle.c"
