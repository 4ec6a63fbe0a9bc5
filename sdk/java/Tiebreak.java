// The runner protocol of tiebreak for Java 11 and newer: docs/runner-protocol.md.
//
// A contestant is made from the input by a function. This class stands next to its own, in the
// package without a name:
//
//   public class Count implements Tiebreak.Contestant {
//       Count(byte[] input, Tiebreak.Workload workload) { ... }
//       public long run() { ... }     // timed: the whole workload once; the checksum
//       public byte[] dump() { ... }  // not timed: the answer of the last run
//       public static void main(String[] words) { Tiebreak.serve(Count::new); }
//   }
//
// A contestant that also overrides hasReset() and reset() is reset before each run, not timed; one
// that overrides parts() is timed part by part instead of by run(), and the laboratory takes the
// geometric mean of their times.
//
// Standard output belongs to the protocol: what a contestant prints goes to standard error.

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.function.LongSupplier;

public final class Tiebreak {
    private static final int VERSION = 1;

    /** What is raced. */
    public interface Contestant {
        long run();

        byte[] dump();

        default boolean hasReset() {
            return false;
        }

        default void reset() {}

        default LongSupplier[] parts() {
            return null;
        }
    }

    /** Makes a contestant from the input. */
    public interface Prepare {
        Contestant prepare(byte[] input, Workload workload) throws Exception;
    }

    /** What a contestant works on, in addition to the input's bytes. Numbers have 64 bits without sign. */
    public static final class Workload {
        public final String name;
        public final String distribution;
        public final long size;
        public final long items;
        public final long seed;

        private Workload(Map<String, String> fields) {
            name = fields.getOrDefault("workload", "");
            distribution = fields.getOrDefault("distribution", "");
            size = number(fields.get("size"));
            items = number(fields.get("items"));
            seed = number(fields.get("seed"));
        }
    }

    private final Prepare prepare;
    private Contestant contestant;

    private Tiebreak(Prepare prepare) {
        this.prepare = prepare;
    }

    /** Answers the laboratory until it says bye or is gone. */
    public static void serve(Prepare prepare) {
        InputStream requests = new BufferedInputStream(System.in);
        PrintStream answers = System.out;
        System.setOut(System.err);
        Tiebreak server = new Tiebreak(prepare);
        try {
            for (String line = line(requests); line != null; line = line(requests)) {
                if (line.equals("bye")) {
                    break;
                }
                byte[] answer = (server.answer(line).replace('\n', ' ') + "\n")
                        .getBytes(StandardCharsets.UTF_8);
                answers.write(answer, 0, answer.length);
                answers.flush();
            }
        } catch (IOException gone) {
            System.err.println(gone);
        }
        System.exit(0);
    }

    private static String line(InputStream requests) throws IOException {
        ByteArrayOutputStream line = new ByteArrayOutputStream();
        for (int next = requests.read(); next != '\n'; next = requests.read()) {
            if (next < 0) {
                return line.size() == 0 ? null : line.toString(StandardCharsets.UTF_8);
            }
            line.write(next);
        }
        return line.toString(StandardCharsets.UTF_8);
    }

    private String answer(String line) {
        int space = line.indexOf(' ');
        String word = space < 0 ? line : line.substring(0, space);
        String rest = space < 0 ? "" : line.substring(space + 1);
        try {
            switch (word) {
                case "hello":
                    return "hello " + VERSION + " java " + System.getProperty("java.version");
                case "load":
                    return load(rest);
                case "run":
                case "reset":
                case "dump":
                    break;
                default:
                    return "error unknown request '" + word + "'";
            }
            if (contestant == null) {
                return "error nothing is loaded";
            }
            switch (word) {
                case "run":
                    return run(number(rest));
                case "dump":
                    return dump(fields(rest).get("path"));
                default:
                    contestant.reset();
                    return "reset";
            }
        } catch (Exception | StackOverflowError | OutOfMemoryError error) {
            error.printStackTrace();
            return "error " + error;
        }
    }

    private String load(String text) throws Exception {
        contestant = null;
        Map<String, String> fields = fields(text);
        String path = fields.getOrDefault("path", "");
        byte[] input = path.isEmpty() ? new byte[0] : Files.readAllBytes(Path.of(path));
        contestant = prepare.prepare(input, new Workload(fields));
        return "loaded reset=" + (contestant.hasReset() ? "yes" : "no");
    }

    private String run(long times) {
        LongSupplier[] parts = contestant.parts();
        if (parts == null) {
            long[] ran = batch(contestant::run, times);
            return "ran elapsed_ns=" + ran[0] + " checksum=" + Long.toUnsignedString(ran[1]);
        }
        long elapsed = 0;
        long checksum = 0;
        StringBuilder each = new StringBuilder();
        for (LongSupplier part : parts) {
            long[] ran = batch(part, times);
            elapsed += ran[0];
            checksum = checksum * 31 + ran[1];
            each.append(each.length() == 0 ? "" : ",").append(ran[0]);
        }
        return "ran elapsed_ns=" + elapsed + " checksum=" + Long.toUnsignedString(checksum)
                + " parts_ns=" + each;
    }

    private String dump(String path) throws IOException {
        byte[] answer = contestant.dump();
        Files.write(Path.of(path), answer);
        return "dumped bytes=" + answer.length;
    }

    // Runs it so many times: the time and the checksum, which must be the same each time.
    private static long[] batch(LongSupplier run, long times) {
        if (times == 0) {
            return new long[] {0, 0};
        }
        boolean differs = false;
        long start = System.nanoTime();
        long checksum = run.getAsLong();
        for (long i = 1; i < times; i++) {
            differs |= run.getAsLong() != checksum;
        }
        long elapsed = System.nanoTime() - start;
        if (differs) {
            throw new IllegalStateException("the checksum changed from one run to the next");
        }
        return new long[] {elapsed, checksum};
    }

    // NAME=VALUE words; the last one, path, goes to the end of the line.
    private static Map<String, String> fields(String text) {
        Map<String, String> fields = new HashMap<>();
        int at = text.indexOf("path=");
        if (at >= 0) {
            fields.put("path", text.substring(at + "path=".length()));
        }
        for (String word : (at < 0 ? text : text.substring(0, at)).split(" ")) {
            int equals = word.indexOf('=');
            if (equals > 0) {
                fields.put(word.substring(0, equals), word.substring(equals + 1));
            }
        }
        return fields;
    }

    private static long number(String text) {
        return text == null ? 0 : Long.parseUnsignedLong(text);
    }
}
