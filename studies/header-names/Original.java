// The original lookup in Java, and all around it: a string, then a table of both spellings.

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

public final class Original implements Tiebreak.Contestant {
    private static final Map<String, String> KNOWN = new HashMap<>();

    // A runner is started in the study's folder.
    static {
        try {
            for (String name : Files.readString(Path.of("names.txt")).split("\\s+")) {
                String lower = name.toLowerCase(Locale.ROOT);
                KNOWN.put(name, lower);
                KNOWN.put(lower, lower);
            }
        } catch (IOException gone) {
            throw new UncheckedIOException(gone);
        }
    }

    private static String lookup(byte[] name) {
        String text = new String(name, StandardCharsets.ISO_8859_1);
        String lower = KNOWN.get(text);
        return lower != null ? lower : text.toLowerCase(Locale.ROOT);
    }

    // A header as it was found: sets are short, so they are looked through.
    private static final class Found {
        final String name;
        String[] values;

        Found(String name, String value) {
            this.name = name;
            this.values = new String[] {value};
        }

        void add(String value) {
            values = Arrays.copyOf(values, values.length + 1);
            values[values.length - 1] = value;
        }
    }

    private static final int END_OF_SET = 0xffff;

    // Of each set the names and the values in turn.
    private final byte[][][] sets;
    private final List<List<Found>> results = new ArrayList<>();
    private int sum;

    // Two lengths of 16 bits and the bytes of a name and a value; a name length of 0xffff ends a
    // set.
    private Original(byte[] input, Tiebreak.Workload workload) {
        List<byte[][]> sets = new ArrayList<>();
        List<byte[]> set = new ArrayList<>();
        for (int at = 0; at < input.length; ) {
            int nameLength = length(input, at);
            if (nameLength == END_OF_SET) {
                sets.add(set.toArray(new byte[0][]));
                set.clear();
                results.add(null);
                at += 2;
                continue;
            }
            int value = at + 4 + nameLength;
            int end = value + length(input, at + 2);
            // Each in memory of its own, as if it had come from a socket.
            set.add(Arrays.copyOfRange(input, at + 4, value));
            set.add(Arrays.copyOfRange(input, value, end));
            at = end;
        }
        this.sets = sets.toArray(new byte[0][][]);
    }

    private static int length(byte[] input, int at) {
        return (input[at] & 0xff) | (input[at + 1] & 0xff) << 8;
    }

    // One step of the checksum, of 32 bits (FNV-1a).
    private void mix(int part) {
        sum = (sum ^ part) * 16777619;
    }

    private static Found find(List<Found> all, String name) {
        for (Found found : all) {
            if (found.name.equals(name)) {
                return found;
            }
        }
        return null;
    }

    private List<Found> parse(byte[][] headers) {
        List<Found> all = new ArrayList<>(headers.length / 2);
        for (int i = 0; i < headers.length; i += 2) {
            String name = lookup(headers[i]);
            String value = new String(headers[i + 1], StandardCharsets.UTF_8);
            mix(name.length() << 16 | value.length() << 8 | name.charAt(name.length() >> 1));
            Found before = find(all, name);
            if (before == null) {
                all.add(new Found(name, value));
            } else {
                before.add(value);
            }
        }
        Found disposition = find(all, "content-disposition");
        if (disposition != null && find(all, "content-length") != null) {
            String[] values = disposition.values;
            // As undici does it: of several a byte for each, 0 for what is no number.
            byte[] bytes = values.length > 1
                    ? new byte[values.length]
                    : values[0].getBytes(StandardCharsets.UTF_8);
            String text = new String(bytes, StandardCharsets.ISO_8859_1);
            disposition.values = new String[] {text};
            mix(text.length() << 8 | text.charAt(0));
        }
        return all;
    }

    @Override
    public long run() {
        sum = 0;
        for (int i = 0; i < sets.length; i++) {
            results.set(i, parse(sets[i]));
        }
        return sum & 0xffffffffL;
    }

    // Printable ASCII as it is, anything else and '%' as %XX.
    private static void show(StringBuilder out, String text) {
        for (char c : text.toCharArray()) {
            if (c >= ' ' && c <= '~' && c != '%') {
                out.append(c);
            } else {
                out.append(String.format("%%%02x", (int) c));
            }
        }
    }

    @Override
    public byte[] dump() {
        StringBuilder out = new StringBuilder();
        for (int i = 0; i < results.size(); i++) {
            for (Found found : results.get(i)) {
                out.append(i + 1).append('\t');
                show(out, found.name);
                for (String value : found.values) {
                    out.append('\t');
                    show(out, value);
                }
                out.append('\n');
            }
        }
        return out.toString().getBytes(StandardCharsets.UTF_8);
    }

    public static void main(String[] words) {
        Tiebreak.serve(Original::new);
    }
}
