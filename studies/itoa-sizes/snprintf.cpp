// As the study of mixes has it.
#include "../itoa-mixes/snprintf.cpp"
