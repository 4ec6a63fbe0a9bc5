import java.nio.charset.StandardCharsets;
import java.util.function.LongSupplier;

public class Parts implements Tiebreak.Contestant {
    private final Tiebreak.Workload workload;

    Parts(byte[] input, Tiebreak.Workload workload) {
        this.workload = workload;
    }

    @Override
    public LongSupplier[] parts() {
        return new LongSupplier[] {() -> workload.size, () -> workload.items};
    }

    @Override
    public long run() {
        throw new IllegalStateException("there are parts");
    }

    @Override
    public byte[] dump() {
        return Long.toUnsignedString(workload.seed).getBytes(StandardCharsets.UTF_8);
    }

    public static void main(String[] arguments) {
        Tiebreak.serve(Parts::new);
    }
}
