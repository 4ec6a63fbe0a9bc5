// The method of Champagne Gareau and Lemire (2026), as the study of mixes has it.
#include "../itoa-mixes/ifma.cpp"
