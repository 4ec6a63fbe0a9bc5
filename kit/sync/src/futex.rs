//! Sleeping on a word of memory, and waking those who do; private to the process.
