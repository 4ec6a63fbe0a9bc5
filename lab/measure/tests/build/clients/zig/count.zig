const std = @import("std");
const tiebreak = @import("tiebreak");

const Word = struct { text: []const u8, count: usize };

const Count = struct {
    input: []const u8,
    drifts: bool,
    runs: u64 = 0,
    used: usize = 0,
    words: [16]Word = undefined,

    pub fn init(input: []const u8, workload: tiebreak.Workload) !Count {
        return .{ .input = input, .drifts = std.mem.eql(u8, workload.name, "drift") };
    }

    pub fn run(self: *Count) u64 {
        std.debug.print("printed\n", .{});
        self.runs += 1;
        self.reset();
        var each = std.mem.tokenizeScalar(u8, self.input, ' ');
        while (each.next()) |text| {
            for (self.words[0..self.used]) |*word| {
                if (std.mem.eql(u8, word.text, text)) {
                    word.count += 1;
                    break;
                }
            } else {
                self.words[self.used] = .{ .text = text, .count = 1 };
                self.used += 1;
            }
        }
        return if (self.drifts) self.runs else self.used;
    }

    pub fn reset(self: *Count) void {
        self.used = 0;
    }

    pub fn dump(self: *Count, out: *tiebreak.Output) !void {
        const words = self.words[0..self.used];
        std.mem.sort(Word, words, {}, less);
        for (words) |word| try out.print("{s} {d}\n", .{ word.text, word.count });
    }

    fn less(_: void, a: Word, b: Word) bool {
        return std.mem.lessThan(u8, a.text, b.text);
    }
};

pub fn main() void {
    tiebreak.serve(Count);
}
