/// tiebreak.h for D. Compile contestants with `-betterC`, or link the D runtime and start it.
///
/// The long text of the contract stands in tiebreak.h and docs/manual/contestants.md; names, order
/// and layout here are the same.
module tiebreak;

/// The version of the tables.
enum uint TIEBREAK_ABI = 1;
/// The first word of every table.
enum uint TIEBREAK_MAGIC = 0x62656974;
/// Flag of a contestant: `run` allocates memory.
enum uint TIEBREAK_ALLOCATES = 1;

/// What a contestant works on.
extern (C) struct tiebreak_workload
{
    uint struct_bytes;
    uint reserved;
    const(ubyte)* input;
    ulong input_bytes;
    ubyte* output;
    ulong output_bytes;
    ulong items;
}

/// Takes bytes: `write` may be called any number of times.
extern (C) struct tiebreak_sink
{
    void* context;
    extern (C) void function(void* context, const(void)* bytes, ulong count) nothrow @nogc write;
}

/// A contestant.
extern (C) struct tiebreak_contestant
{
    uint magic;
    uint abi;
    uint struct_bytes;
    uint flags;
    const(char)* name;
    const(char)* needs;
    uint input_slack_bytes;
    uint output_slack_bytes;
    uint alignment_bytes;
    uint reserved;
    extern (C) void* function(const(tiebreak_workload)*) nothrow prepare;
    extern (C) void function(void*) nothrow reset;
    extern (C) ulong function(void*) nothrow run;
    extern (C) void function(void*, const(tiebreak_sink)*) nothrow dump;
    extern (C) void function(void*) nothrow release;
}

/// A `prepare` for contestants whose state is the workload alone; `free` releases it.
extern (C) void* tiebreak_copy_workload()(const(tiebreak_workload)* workload)
{
    import core.stdc.stdlib : malloc;

    auto state = cast(tiebreak_workload*) malloc(tiebreak_workload.sizeof);
    if (state)
        *state = cast() *workload;
    return state;
}

/// Writes a number and the end of a line: for dumps and answers.
void tiebreak_write_number()(const(tiebreak_sink)* sink, ulong number)
{
    char[21] line;
    size_t start = 20;
    line[20] = '\n';
    do
    {
        line[--start] = cast(char)('0' + number % 10);
        number /= 10;
    }
    while (number);
    sink.write(cast(void*) sink.context, line.ptr + start, 21 - start);
}

/// Exports a contestant: `mixin Contestant!("sum", prepare, run, dump, release);`. `reset` puts
/// back an input that runs change.
mixin template Contestant(string name, alias prepare, alias run, alias dump, alias release,
        uint flags = 0, string needs = "", alias reset = null)
{
    static if (is(typeof(reset) == typeof(null)))
        private enum resetOrNull = null;
    else
        private enum resetOrNull = &reset;

    extern (C) export __gshared const tiebreak_contestant tiebreak_contestant_table = {
        TIEBREAK_MAGIC, TIEBREAK_ABI, tiebreak_contestant.sizeof, flags, name.ptr, needs.ptr,
        0, 0, 0, 0, &prepare, resetOrNull, &run, &dump, &release};
}

version (LDC)
{
    import ldc.llvmasm;

    /// The pointer as one of which the compiler knows nothing; all memory may have changed.
    T* tiebreak_launder(T)(T* pointer)
    {
        pragma(inline, true);
        return __asm!(T*)("", "=r,0,~{memory}", pointer);
    }

    /// Makes the compiler believe that the value is used.
    void tiebreak_keep()(ulong value)
    {
        pragma(inline, true);
        __asm("", "r,~{memory}", value);
    }
}
