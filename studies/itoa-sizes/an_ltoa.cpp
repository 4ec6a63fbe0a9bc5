// As the study of mixes has it.
#include "../itoa-mixes/an_ltoa.cpp"
