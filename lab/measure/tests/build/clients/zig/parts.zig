const tiebreak = @import("tiebreak");

const Parts = struct {
    workload: tiebreak.Workload,

    pub const parts = .{ size, items };

    pub fn init(_: []const u8, workload: tiebreak.Workload) !Parts {
        return .{ .workload = workload };
    }

    fn size(self: *Parts) u64 {
        return self.workload.size;
    }

    fn items(self: *Parts) u64 {
        return self.workload.items;
    }

    pub fn dump(self: *Parts, out: *tiebreak.Output) !void {
        try out.print("{d}", .{self.workload.seed});
    }
};

pub fn main() void {
    tiebreak.serve(Parts);
}
