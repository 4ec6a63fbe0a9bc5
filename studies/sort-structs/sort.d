/// Published as "D": sort of std.algorithm on a number and a slice of characters.
///
/// Built as better C, so that no garbage collector has to be started in a library that is loaded
/// into another program. The sort makes no garbage. The strings stand where the collector would
/// have put them: 16 bytes apart, in the order in which they were made.
module sort;

import core.stdc.stdio : snprintf;
import core.stdc.stdlib : calloc, free, malloc;
import core.stdc.string : memcmp, memcpy, strlen;
import std.algorithm.sorting : sort;
import tiebreak;

nothrow:
@nogc:

struct Foo
{
    int i;
    const(char)[] s;

    int opCmp(ref const Foo other) const @safe pure nothrow @nogc
    {
        if (i != other.i)
            return i < other.i ? -1 : 1;
        // As in the source, the texts are compared twice.
        return s < other.s ? -1 : s > other.s;
    }
}

enum stringBytes = 16;

struct List
{
    size_t count;
    Foo* foos;
    Foo* unsorted;
    char* strings;
}

extern (C) void release(void* opaque)
{
    auto list = cast(List*) opaque;
    free(list.foos);
    free(list.unsorted);
    free(list.strings);
    free(list);
}

extern (C) void reset(void* opaque)
{
    auto list = cast(List*) opaque;
    memcpy(list.foos, list.unsorted, list.count * Foo.sizeof);
}

extern (C) void* prepare(const(tiebreak_workload)* workload)
{
    auto list = cast(List*) calloc(1, List.sizeof);
    if (list is null)
        return null;
    list.count = cast(size_t) workload.items;
    list.foos = cast(Foo*) malloc((list.count + 1) * Foo.sizeof);
    list.unsorted = cast(Foo*) malloc((list.count + 1) * Foo.sizeof);
    list.strings = cast(char*) malloc((list.count + 1) * stringBytes);
    if (list.foos is null || list.unsorted is null || list.strings is null)
    {
        release(list);
        return null;
    }
    foreach (k; 0 .. list.count)
    {
        int[2] pair;
        memcpy(pair.ptr, workload.input + 8 * k, pair.sizeof);
        auto text = list.strings + k * stringBytes;
        char[32] made;
        const length = snprintf(made.ptr, made.length, "foo%ufoo", cast(uint) pair[1]);
        memcpy(text, made.ptr, length);
        list.unsorted[k] = Foo(pair[0], text[0 .. length]);
    }
    reset(list);
    return list;
}

extern (C) ulong run(void* opaque)
{
    auto list = cast(List*) opaque;
    sort(list.foos[0 .. list.count]);
    return checksum(list.foos[0 .. list.count]);
}

ulong checksum(const(Foo)[] foos)
{
    ulong sum = 0xcbf29ce484222325;
    foreach (k; 0 .. foos.length == 0 ? 0 : 1025)
    {
        const foo = &foos[k < 1024 ? k * foos.length / 1024 : foos.length - 1];
        sum = (sum ^ cast(uint) foo.i) * 0x100000001b3;
        foreach (c; foo.s)
            sum = (sum ^ cast(ubyte) c) * 0x100000001b3;
    }
    return sum;
}

extern (C) void dump(void* opaque, const(tiebreak_sink)* sink)
{
    auto list = cast(List*) opaque;
    foreach (ref foo; list.foos[0 .. list.count])
    {
        char[64] line;
        const length = snprintf(line.ptr, line.length, "%d %.*s\n", foo.i,
                cast(int) foo.s.length, foo.s.ptr);
        sink.write(cast(void*) sink.context, line.ptr, length);
    }
}

mixin Contestant!("std.algorithm.sort", prepare, run, dump, release, 0, "", reset);
