// The original lookup in Go, and all around it: a string, then a table of both spellings.
package main

import (
	_ "embed"
	"fmt"
	"io"
	"strings"
)

//go:embed names.txt
var names string

var known = map[string]string{}

func init() {
	for _, name := range strings.Fields(names) {
		lower := strings.ToLower(name)
		known[name], known[lower] = lower, lower
	}
}

func lookup(name []byte) string {
	// The compiler makes no string for this.
	if lower, ok := known[string(name)]; ok {
		return lower
	}
	return lowered(name)
}

// As Latin-1, a byte a letter.
func lowered(name []byte) string {
	lower := make([]byte, len(name))
	for i, c := range name {
		if (c >= 'A' && c <= 'Z') || (c >= 0xc0 && c <= 0xde && c != 0xd7) {
			c += 32
		}
		lower[i] = c
	}
	return string(lower)
}

type header struct{ name, value []byte }

// A header as it was found: sets are short, so they are looked through.
type found struct {
	name   string
	values []string
}

type race struct {
	sets    [][]header
	results [][]found
	sum     uint32
}

const endOfSet = 0xffff

// Two lengths of 16 bits and the bytes of a name and a value; a name length of 0xffff ends a set.
func newRace(input []byte, _ Workload) Contestant {
	r := &race{}
	var set []header
	length := func(at int) int { return int(input[at]) | int(input[at+1])<<8 }
	for at := 0; at < len(input); {
		name := length(at)
		if name == endOfSet {
			r.sets = append(r.sets, set)
			set = nil
			at += 2
			continue
		}
		value := length(at + 2)
		from := input[at+4:]
		// Each in memory of its own, as if it had come from a socket.
		set = append(set, header{
			append([]byte(nil), from[:name]...),
			append([]byte(nil), from[name:name+value]...),
		})
		at += 4 + name + value
	}
	r.results = make([][]found, len(r.sets))
	return r
}

// One step of the checksum, of 32 bits (FNV-1a).
func (r *race) mix(part uint32) { r.sum = (r.sum ^ part) * 16777619 }

func (r *race) parse(headers []header) []found {
	all := make([]found, 0, len(headers))
	length, disposition := -1, -1
	for _, header := range headers {
		name, value := lookup(header.name), string(header.value)
		letter := uint32(name[len(name)>>1])
		r.mix(uint32(len(name))<<16 | uint32(len(value))<<8 | letter)
		at := 0
		for at < len(all) && all[at].name != name {
			at++
		}
		if at < len(all) {
			all[at].values = append(all[at].values, value)
			continue
		}
		all = append(all, found{name, []string{value}})
		switch name {
		case "content-length":
			length = at
		case "content-disposition":
			disposition = at
		}
	}
	if length >= 0 && disposition >= 0 {
		values := all[disposition].values
		text := values[0]
		if len(values) > 1 {
			// As undici does it: a byte for each value, 0 for what is no number.
			text = string(make([]byte, len(values)))
		}
		all[disposition].values = []string{text}
		r.mix(uint32(len(text))<<8 | uint32(text[0]))
	}
	return all
}

func (r *race) Run() uint64 {
	r.sum = 0
	for i, set := range r.sets {
		r.results[i] = r.parse(set)
	}
	return uint64(r.sum)
}

// Printable ASCII as it is, anything else and '%' as %XX.
func shown(text string) string {
	var out strings.Builder
	for i := 0; i < len(text); i++ {
		if c := text[i]; c >= ' ' && c <= '~' && c != '%' {
			out.WriteByte(c)
		} else {
			fmt.Fprintf(&out, "%%%02x", c)
		}
	}
	return out.String()
}

func (r *race) Dump(out io.Writer) {
	for i, all := range r.results {
		for _, found := range all {
			fmt.Fprintf(out, "%d\t%s", i+1, shown(found.name))
			for _, value := range found.values {
				fmt.Fprintf(out, "\t%s", shown(value))
			}
			fmt.Fprint(out, "\n")
		}
	}
}

func main() { Serve(newRace) }
