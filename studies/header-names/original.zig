//! The original lookup in Zig, and all around it: a table of both spellings.

const std = @import("std");
const tiebreak = @import("tiebreak");

const names = @embedFile("names.txt");

const Header = struct { name: []const u8, value: []const u8 };

/// A header as it was found: sets are short, so they are looked through.
const Found = struct { name: []const u8, values: [][]const u8 };

const Race = struct {
    known: std.StringHashMap([]const u8),
    sets: []const []const Header,
    results: [][]Found,
    arena: std.heap.ArenaAllocator,
    prepared: std.heap.ArenaAllocator,
    sum: u32 = 0,

    /// Two lengths of 16 bits and the bytes of a name and a value; a name length of 0xffff ends a
    /// set.
    pub fn init(input: []const u8, _: tiebreak.Workload) !Race {
        var prepared: std.heap.ArenaAllocator = .init(std.heap.c_allocator);
        errdefer prepared.deinit();
        const allocator = prepared.allocator();
        var known: std.StringHashMap([]const u8) = .init(std.heap.c_allocator);
        errdefer known.deinit();
        var each = std.mem.tokenizeAny(u8, names, " \n");
        while (each.next()) |name| {
            const lower = try lowered(allocator, name);
            try known.put(name, lower);
            try known.put(lower, lower);
        }
        const count = try counted(input);
        const headers = try allocator.alloc(Header, count.headers);
        const sets = try allocator.alloc([]const Header, count.sets);
        var at: usize = 0;
        var header: usize = 0;
        var first: usize = 0;
        for (sets) |*set| {
            while (length(input, at) != end_of_set) {
                const name = at + 4;
                const value = name + length(input, at);
                const end = value + length(input, at + 2);
                // Each in memory of its own, as if it had come from a socket.
                headers[header] = .{
                    .name = try allocator.dupe(u8, input[name..value]),
                    .value = try allocator.dupe(u8, input[value..end]),
                };
                header += 1;
                at = end;
            }
            set.* = headers[first..header];
            first = header;
            at += 2;
        }
        return .{
            .known = known,
            .sets = sets,
            .results = try allocator.alloc([]Found, count.sets),
            .arena = .init(std.heap.c_allocator),
            .prepared = prepared,
        };
    }

    pub fn deinit(self: *Race) void {
        self.known.deinit();
        self.arena.deinit();
        self.prepared.deinit();
    }

    pub fn run(self: *Race) u64 {
        _ = self.arena.reset(.retain_capacity);
        self.sum = 0;
        for (self.sets, self.results) |set, *result| {
            result.* = self.parse(set) catch @panic("out of memory");
        }
        return self.sum;
    }

    fn lookup(self: *Race, name: []const u8) ![]const u8 {
        return self.known.get(name) orelse try lowered(self.arena.allocator(), name);
    }

    /// One step of the checksum, of 32 bits (FNV-1a).
    fn mix(self: *Race, part: usize) void {
        self.sum = (self.sum ^ @as(u32, @truncate(part))) *% 16777619;
    }

    fn parse(self: *Race, headers: []const Header) ![]Found {
        const allocator = self.arena.allocator();
        const room = try allocator.alloc(Found, headers.len);
        var all: []Found = room[0..0];
        for (headers) |header| {
            const name = try self.lookup(header.name);
            const value = try allocator.dupe(u8, header.value);
            self.mix(name.len << 16 | value.len << 8 | name[name.len >> 1]);
            if (find(all, name)) |before| {
                const values = try allocator.alloc([]const u8, before.values.len + 1);
                @memcpy(values[0..before.values.len], before.values);
                values[before.values.len] = value;
                before.values = values;
            } else {
                const values = try allocator.alloc([]const u8, 1);
                values[0] = value;
                all = room[0 .. all.len + 1];
                all[all.len - 1] = .{ .name = name, .values = values };
            }
        }
        if (find(all, "content-disposition")) |disposition| {
            if (find(all, "content-length") != null) {
                const values = disposition.values;
                var text = values[0];
                if (values.len > 1) {
                    // As undici does it: a byte for each value, 0 for what is no number.
                    const zeros = try allocator.alloc(u8, values.len);
                    @memset(zeros, 0);
                    text = zeros;
                }
                values[0] = text;
                disposition.values = values[0..1];
                self.mix(text.len << 8 | text[0]);
            }
        }
        return all;
    }

    pub fn dump(self: *Race, out: *tiebreak.Output) !void {
        for (self.results, 1..) |all, number| {
            for (all) |found| {
                try out.print("{d}\t", .{number});
                try show(out, found.name);
                for (found.values) |value| {
                    try out.write("\t");
                    try show(out, value);
                }
                try out.write("\n");
            }
        }
    }
};

const end_of_set = 0xffff;

fn length(input: []const u8, at: usize) usize {
    return @as(usize, input[at]) | @as(usize, input[at + 1]) << 8;
}

fn counted(input: []const u8) !struct { sets: usize, headers: usize } {
    var sets: usize = 0;
    var headers: usize = 0;
    var at: usize = 0;
    while (at < input.len) {
        const name = length(input, at);
        if (name == end_of_set) {
            sets += 1;
            at += 2;
        } else {
            headers += 1;
            at += 4 + name + length(input, at + 2);
        }
    }
    return .{ .sets = sets, .headers = headers };
}

fn find(all: []Found, name: []const u8) ?*Found {
    for (all) |*found| {
        if (std.mem.eql(u8, found.name, name)) return found;
    }
    return null;
}

/// As Latin-1, a byte a letter.
fn lowered(allocator: std.mem.Allocator, name: []const u8) ![]const u8 {
    const lower = try allocator.alloc(u8, name.len);
    for (name, lower) |c, *to| {
        const is_upper = (c >= 'A' and c <= 'Z') or (c >= 0xc0 and c <= 0xde and c != 0xd7);
        to.* = if (is_upper) c + 32 else c;
    }
    return lower;
}

/// Printable ASCII as it is, anything else and '%' as %XX.
fn show(out: *tiebreak.Output, text: []const u8) !void {
    for (text) |c| {
        if (c >= ' ' and c <= '~' and c != '%') {
            try out.write(&.{c});
        } else {
            try out.print("%{x:0>2}", .{c});
        }
    }
}

pub fn main() void {
    tiebreak.serve(Race);
}
