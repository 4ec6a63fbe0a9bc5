/* The texts of the study utf8 next to this one, and whether each is right. */
#include "../utf8/oracle.c"
