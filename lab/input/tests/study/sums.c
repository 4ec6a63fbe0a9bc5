/* The tests of studies name this file; none of them compiles it. */
