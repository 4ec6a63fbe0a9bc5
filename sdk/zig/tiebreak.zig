//! The runner protocol of tiebreak for Zig: docs/runner-protocol.md.
//!
//! A contestant is a type that is made from the input:
//!
//!     const tiebreak = @import("tiebreak");
//!
//!     const Count = struct {
//!         words: []const u8,
//!         pub fn init(input: []const u8, workload: tiebreak.Workload) !Count { ... }
//!         pub fn run(self: *Count) u64 { ... } // timed: the whole workload once; the checksum
//!         pub fn dump(self: *Count, out: *tiebreak.Output) !void { ... } // not timed: the answer
//!     };
//!
//!     pub fn main() void {
//!         tiebreak.serve(Count);
//!     }
//!
//! A contestant that also has `reset` is reset before each run, not timed; one with `deinit` is
//! asked to give back what it holds before the next input. One that has `parts`, an array of
//! functions such as `run`, is timed part by part, and the laboratory takes the geometric mean of
//! their times.
//!
//! Standard output belongs to the protocol: what a contestant prints goes to standard error. The
//! system is called through C, whose names stay what they are while those of Zig's library change.

const std = @import("std");

const protocol_version = 1;
const allocator = std.heap.c_allocator;

/// What a contestant works on, in addition to the input's bytes.
pub const Workload = struct {
    name: []const u8,
    distribution: []const u8,
    size: u64,
    items: u64,
    seed: u64,
};

/// Where an answer is written to.
pub const Output = struct {
    fd: c_int,
    bytes: u64 = 0,
    used: usize = 0,
    buffer: [1 << 16]u8 = undefined,

    pub fn write(self: *Output, data: []const u8) !void {
        self.bytes += data.len;
        var rest = data;
        while (rest.len > 0) {
            if (self.used == self.buffer.len) try self.flush();
            const length = @min(rest.len, self.buffer.len - self.used);
            @memcpy(self.buffer[self.used..][0..length], rest[0..length]);
            self.used += length;
            rest = rest[length..];
        }
    }

    /// Writes formatted text of at most a thousand bytes.
    pub fn print(self: *Output, comptime format: []const u8, arguments: anytype) !void {
        var text: [1000]u8 = undefined;
        try self.write(try std.fmt.bufPrint(&text, format, arguments));
    }

    fn flush(self: *Output) !void {
        try writeAll(self.fd, self.buffer[0..self.used]);
        self.used = 0;
    }
};

/// Answers the laboratory until it says bye or is gone.
pub fn serve(comptime Contestant: type) void {
    const answers = c.dup(1);
    _ = c.dup2(2, 1);
    var server: Server(Contestant) = .{};
    var requests: Lines = .{};
    while (requests.next() catch null) |line| {
        if (std.mem.eql(u8, line, "bye")) break;
        server.answer(line) catch |reason| server.say("error {s}", .{@errorName(reason)});
        std.mem.replaceScalar(u8, server.said(), '\n', ' ');
        server.say_more("\n", .{});
        writeAll(answers, server.said()) catch break;
    }
}

fn Server(comptime Contestant: type) type {
    return struct {
        const Self = @This();

        contestant: ?Contestant = null,
        input: []const u8 = "",
        fields: []const u8 = "",
        text: [4096]u8 = undefined,
        length: usize = 0,

        fn said(self: *Self) []u8 {
            return self.text[0..self.length];
        }

        fn say(self: *Self, comptime format: []const u8, arguments: anytype) void {
            self.length = 0;
            self.say_more(format, arguments);
        }

        /// What does not fit is cut off; only the text of an error can be so long.
        fn say_more(self: *Self, comptime format: []const u8, arguments: anytype) void {
            const room = self.text[self.length..];
            const written = std.fmt.bufPrint(room, format, arguments) catch room[0..0];
            self.length += written.len;
        }

        fn answer(self: *Self, line: []const u8) !void {
            const word, const rest = cut(line, " ");
            if (std.mem.eql(u8, word, "hello")) {
                const version = @import("builtin").zig_version_string;
                return self.say("hello {d} zig {s}", .{ protocol_version, version });
            }
            if (std.mem.eql(u8, word, "load")) return self.load(rest);
            const known = [_][]const u8{ "run", "reset", "dump" };
            for (known) |name| {
                if (std.mem.eql(u8, word, name)) break;
            } else return self.say("error unknown request '{s}'", .{word[0..@min(word.len, 100)]});
            if (self.contestant == null) return self.say("error nothing is loaded", .{});
            const contestant = &self.contestant.?;
            if (std.mem.eql(u8, word, "run")) return self.run(contestant, try number(rest));
            if (std.mem.eql(u8, word, "dump")) return self.dump(contestant, field(rest, "path"));
            if (@hasDecl(Contestant, "reset")) contestant.reset();
            self.say("reset", .{});
        }

        fn load(self: *Self, fields: []const u8) !void {
            if (@hasDecl(Contestant, "deinit")) {
                if (self.contestant) |*contestant| contestant.deinit();
            }
            self.contestant = null;
            if (self.input.len > 0) allocator.free(self.input);
            self.input = "";
            if (self.fields.len > 0) allocator.free(self.fields);
            self.fields = try allocator.dupe(u8, fields);
            self.input = try readFile(field(self.fields, "path"));
            self.contestant = try Contestant.init(self.input, .{
                .name = field(self.fields, "workload"),
                .distribution = field(self.fields, "distribution"),
                .size = try number(field(self.fields, "size")),
                .items = try number(field(self.fields, "items")),
                .seed = try number(field(self.fields, "seed")),
            });
            const has_reset = if (@hasDecl(Contestant, "reset")) "yes" else "no";
            self.say("loaded reset={s}", .{has_reset});
        }

        fn run(self: *Self, contestant: *Contestant, times: u64) !void {
            if (!@hasDecl(Contestant, "parts")) {
                const ran = try batch(Contestant, Contestant.run, contestant, times);
                return self.say("ran elapsed_ns={d} checksum={d}", .{ ran[0], ran[1] });
            }
            var elapsed: u64 = 0;
            var checksum: u64 = 0;
            var each: [Contestant.parts.len]u64 = undefined;
            inline for (Contestant.parts, 0..) |part, index| {
                const ran = try batch(Contestant, part, contestant, times);
                elapsed += ran[0];
                checksum = checksum *% 31 +% ran[1];
                each[index] = ran[0];
            }
            self.say("ran elapsed_ns={d} checksum={d} parts_ns=", .{ elapsed, checksum });
            for (each, 0..) |took, index| {
                if (index > 0) self.say_more(",", .{});
                self.say_more("{d}", .{took});
            }
        }

        fn dump(self: *Self, contestant: *Contestant, path: []const u8) !void {
            var name: [path_bytes_max]u8 = undefined;
            var out: Output = .{ .fd = c.creat(try terminated(&name, path), 0o666) };
            if (out.fd < 0) return error.AnswerCannotBeWritten;
            defer _ = c.close(out.fd);
            try contestant.dump(&out);
            try out.flush();
            self.say("dumped bytes={d}", .{out.bytes});
        }
    };
}

/// Runs it so many times: the time and the checksum, which must be the same each time.
fn batch(
    comptime Contestant: type,
    comptime part: fn (*Contestant) u64,
    contestant: *Contestant,
    times: u64,
) !struct { u64, u64 } {
    if (times == 0) return .{ 0, 0 };
    var differs = false;
    const start = now();
    const checksum = part(contestant);
    for (1..times) |_| {
        // The compiler must not take one run for all.
        std.mem.doNotOptimizeAway(contestant);
        differs = (part(contestant) != checksum) or differs;
    }
    const elapsed = now() - start;
    if (differs) return error.TheChecksumChangedFromOneRunToTheNext;
    return .{ elapsed, checksum };
}

fn now() u64 {
    var time: c.Time = undefined;
    _ = c.clock_gettime(1, &time); // CLOCK_MONOTONIC
    return @as(u64, @intCast(time.seconds)) * 1_000_000_000 + @as(u64, @intCast(time.nanoseconds));
}

/// The value of a NAME=VALUE word, empty if there is none; path goes to the end of the line.
fn field(text: []const u8, name: []const u8) []const u8 {
    const words, const path = cut(text, "path=");
    if (std.mem.eql(u8, name, "path")) return path;
    var each = std.mem.tokenizeScalar(u8, words, ' ');
    while (each.next()) |word| {
        const known, const value = cut(word, "=");
        if (std.mem.eql(u8, known, name)) return value;
    }
    return "";
}

fn cut(text: []const u8, mark: []const u8) struct { []const u8, []const u8 } {
    const at = std.mem.indexOf(u8, text, mark) orelse return .{ text, "" };
    return .{ text[0..at], text[at + mark.len ..] };
}

fn number(text: []const u8) !u64 {
    return if (text.len == 0) 0 else std.fmt.parseInt(u64, text, 10);
}

/// Lines of standard input.
const Lines = struct {
    buffer: [1 << 16]u8 = undefined,
    start: usize = 0,
    end: usize = 0,

    fn next(self: *Lines) !?[]const u8 {
        while (true) {
            if (std.mem.indexOfScalar(u8, self.buffer[self.start..self.end], '\n')) |length| {
                defer self.start += length + 1;
                return self.buffer[self.start..][0..length];
            }
            const rest = self.end - self.start;
            std.mem.copyForwards(u8, self.buffer[0..rest], self.buffer[self.start..self.end]);
            self.start = 0;
            self.end = rest;
            const room = self.buffer[rest..];
            if (room.len == 0) return error.LineTooLong;
            const got = c.read(0, room.ptr, room.len);
            if (got <= 0) return null;
            self.end += @intCast(got);
        }
    }
};

/// A whole file; nothing of no file.
fn readFile(path: []const u8) ![]const u8 {
    if (path.len == 0) return "";
    var name: [path_bytes_max]u8 = undefined;
    const fd = c.open(try terminated(&name, path), 0);
    if (fd < 0) return error.InputCannotBeRead;
    defer _ = c.close(fd);
    const length = c.lseek(fd, 0, 2);
    if (length < 0 or c.lseek(fd, 0, 0) != 0) return error.InputCannotBeRead;
    const data = try allocator.alloc(u8, @intCast(length));
    errdefer allocator.free(data);
    var at: usize = 0;
    while (at < data.len) {
        const got = c.read(fd, data[at..].ptr, data.len - at);
        if (got <= 0) return error.InputCannotBeRead;
        at += @intCast(got);
    }
    return data;
}

const path_bytes_max = 4096;

/// A path as C reads it.
fn terminated(buffer: *[path_bytes_max]u8, path: []const u8) ![*:0]const u8 {
    if (path.len >= buffer.len) return error.PathTooLong;
    @memcpy(buffer[0..path.len], path);
    buffer[path.len] = 0;
    return buffer[0..path.len :0].ptr;
}

fn writeAll(fd: c_int, data: []const u8) !void {
    var at: usize = 0;
    while (at < data.len) {
        const put = c.write(fd, data[at..].ptr, data.len - at);
        if (put <= 0) return error.CannotWrite;
        at += @intCast(put);
    }
}

const c = struct {
    const Time = extern struct { seconds: c_long, nanoseconds: c_long };
    extern "c" fn clock_gettime(clock: c_int, time: *Time) c_int;
    extern "c" fn open(path: [*:0]const u8, flags: c_int, ...) c_int;
    extern "c" fn creat(path: [*:0]const u8, mode: c_uint) c_int;
    extern "c" fn close(fd: c_int) c_int;
    extern "c" fn lseek(fd: c_int, offset: c_long, whence: c_int) c_long;
    extern "c" fn read(fd: c_int, data: [*]u8, length: usize) isize;
    extern "c" fn write(fd: c_int, data: [*]const u8, length: usize) isize;
    extern "c" fn dup(fd: c_int) c_int;
    extern "c" fn dup2(from: c_int, to: c_int) c_int;
};
