/// The table, made by a function that the compiler runs: in D any function will do.
module table;

import core.stdc.stdlib : free;
import tiebreak;

immutable bool[256] isForbiddenTable = () {
    bool[256] table;
    foreach (c; "\0\t\n\r #/:<>?@[\\]^|")
        table[c] = true;
    return table;
}();

extern (C) nothrow @nogc:

bool isForbidden(ubyte c)
{
    version (TIEBREAK_INLINED) pragma(inline, true);
    else pragma(inline, false);
    return isForbiddenTable[c];
}

ulong run(void* state)
{
    auto workload = cast(tiebreak_workload*) state;
    ulong count = 0;
    foreach (i; 0 .. workload.input_bytes)
    {
        const forbidden = isForbidden(workload.input[i]);
        workload.output[i] = forbidden;
        count += forbidden;
    }
    return count;
}

void dump(void* state, const(tiebreak_sink)* sink)
{
    auto workload = cast(tiebreak_workload*) state;
    foreach (i; 0 .. workload.input_bytes)
        tiebreak_write_number(sink, workload.output[i]);
}

mixin Contestant!("table of a function in D", tiebreak_copy_workload!(), run, dump, free);
