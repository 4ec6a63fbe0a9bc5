import java.nio.charset.StandardCharsets;
import java.util.TreeMap;

public class Count implements Tiebreak.Contestant {
    private final String[] words;
    private final boolean drifts;
    private final TreeMap<String, Integer> counts = new TreeMap<>();
    private long runs;

    Count(byte[] input, Tiebreak.Workload workload) {
        words = new String(input, StandardCharsets.UTF_8).split("\\s+");
        drifts = workload.name.equals("drift");
    }

    @Override
    public long run() {
        System.out.println("printed");
        runs++;
        counts.clear();
        for (String word : words) {
            counts.merge(word, 1, Integer::sum);
        }
        return drifts ? runs : counts.size();
    }

    @Override
    public boolean hasReset() {
        return true;
    }

    @Override
    public void reset() {
        counts.clear();
    }

    @Override
    public byte[] dump() {
        StringBuilder out = new StringBuilder();
        counts.forEach((word, count) -> out.append(word + " " + count + "\n"));
        return out.toString().getBytes(StandardCharsets.UTF_8);
    }

    public static void main(String[] arguments) {
        Tiebreak.serve(Count::new);
    }
}
