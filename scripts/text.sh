#!/bin/sh
# Writes a text that is like English to a compressor: words of Zipf's frequencies, sentences and
# paragraphs. The same bytes on every machine, because nothing but whole numbers and quotients of
# them decides.
#
#   scripts/text.sh FILE BYTES
set -eu

file=$1
bytes=$2

# Nothing to do if it is there already.
[ -f "$file" ] && [ "$(wc -c <"$file")" -eq "$bytes" ] && exit 0

mkdir -p "$(dirname "$file")"
LC_ALL=C awk -v bytes="$bytes" '
# The minimal standard generator of Park and Miller (1988): products stay below 2^53.
function draw(below) {
    state = (state * 48271) % 2147483647
    return state % below
}

# A made-up word of one to four syllables: the commoner, the shorter.
function word(rank,    syllables, text, i) {
    syllables = 1 + (rank > 40) + (rank > 600 && draw(2)) + (rank > 1500 && draw(3) == 0)
    for (i = 0; i < syllables; i++)
        text = text onset[draw(onsets)] nucleus[draw(nuclei)] coda[draw(codas)]
    return text
}

BEGIN {
    state = 20260101
    onsets = split("b c d f g h l m n p r s t w st tr pl ch sh th br", from, " ")
    for (i = 0; i < onsets; i++) onset[i] = from[i + 1]
    nuclei = split("a e i o u ea ou ai", from, " ")
    for (i = 0; i < nuclei; i++) nucleus[i] = from[i + 1]
    codas = split("- n r s t d ll nd ng st", from, " ")
    for (i = 0; i < codas; i++) coda[i] = from[i + 1] == "-" ? "" : from[i + 1]

    # slots[] holds each rank as often as its frequency, which is in proportion to 1 / rank.
    ranks = 4000
    for (rank = 1; rank <= ranks; rank++) {
        words[rank] = word(rank)
        for (copies = int(3000 / rank) + 1; copies > 0; copies--) slots[count++] = rank
    }

    while (written < bytes) {
        line = ""
        for (left = 5 + draw(18); left > 0; left--) {
            next_word = words[slots[draw(count)]]
            if (line == "") next_word = toupper(substr(next_word, 1, 1)) substr(next_word, 2)
            else if (draw(12) == 0) line = line ","
            line = line (line == "" ? "" : " ") next_word
        }
        line = line (draw(6) == 0 ? ".\n\n" : ".\n")
        if (written + length(line) > bytes) line = substr(line, 1, bytes - written)
        printf "%s", line
        written += length(line)
    }
}' >"$file.partial"
mv "$file.partial" "$file"
