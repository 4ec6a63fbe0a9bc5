// The runner protocol of tiebreak for Go: docs/runner-protocol.md.
//
// A contestant is a function that gets the input and gives a Contestant. This file is built into
// its package main:
//
//	type count struct{ words []string }
//
//	func (c *count) Run() uint64         // timed: the whole workload once; the checksum
//	func (c *count) Dump(out io.Writer)  // not timed: the answer of the last run
//
//	func main() {
//		Serve(func(input []byte, workload Workload) Contestant { return &count{...} })
//	}
//
// A contestant that also has Reset() is reset before each run, not timed; one that also has
// Parts() []func() uint64 is timed part by part instead of by Run, and the laboratory takes the
// geometric mean of their times.
//
// Standard output belongs to the protocol: what a contestant prints goes to standard error.

package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"time"
)

const protocolVersion = 1

// A Contestant is what is raced.
type Contestant interface {
	Run() uint64
	Dump(out io.Writer)
}

// A Workload is what a contestant works on, in addition to the input's bytes.
type Workload struct {
	Name, Distribution string
	Size, Items, Seed  uint64
}

type resetter interface{ Reset() }

type inParts interface{ Parts() []func() uint64 }

// Serve answers the laboratory until it says bye or is gone.
func Serve(prepare func(input []byte, workload Workload) Contestant) {
	requests, answers := bufio.NewReader(os.Stdin), os.Stdout
	os.Stdout = os.Stderr
	server := &protocolServer{prepare: prepare}
	for {
		line, err := requests.ReadString('\n')
		line = strings.TrimSuffix(line, "\n")
		if line == "bye" || (err != nil && line == "") {
			return
		}
		answer := strings.ReplaceAll(server.answer(line), "\n", " ")
		if _, err := io.WriteString(answers, answer+"\n"); err != nil {
			return
		}
	}
}

type protocolServer struct {
	prepare    func([]byte, Workload) Contestant
	contestant Contestant
}

func (s *protocolServer) answer(line string) (answer string) {
	defer func() {
		if reason := recover(); reason != nil {
			fmt.Fprintf(os.Stderr, "%v\n%s", reason, debug.Stack())
			answer = fmt.Sprintf("error %v", reason)
		}
	}()
	word, rest, _ := strings.Cut(line, " ")
	switch word {
	case "hello":
		version := strings.TrimPrefix(runtime.Version(), "go")
		return fmt.Sprintf("hello %d go %s", protocolVersion, version)
	case "load":
		return s.load(rest)
	case "run", "reset", "dump":
		if s.contestant == nil {
			return "error nothing is loaded"
		}
	default:
		return fmt.Sprintf("error unknown request '%s'", word)
	}
	switch word {
	case "run":
		return s.run(protocolNumber(rest))
	case "reset":
		if contestant, ok := s.contestant.(resetter); ok {
			contestant.Reset()
		}
		return "reset"
	}
	return s.dump(protocolFields(rest)["path"])
}

func (s *protocolServer) load(text string) string {
	s.contestant = nil
	fields := protocolFields(text)
	input := []byte{}
	if path := fields["path"]; path != "" {
		var err error
		if input, err = os.ReadFile(path); err != nil {
			panic(err)
		}
	}
	s.contestant = s.prepare(input, Workload{
		Name:         fields["workload"],
		Distribution: fields["distribution"],
		Size:         protocolNumber(fields["size"]),
		Items:        protocolNumber(fields["items"]),
		Seed:         protocolNumber(fields["seed"]),
	})
	if _, ok := s.contestant.(resetter); ok {
		return "loaded reset=yes"
	}
	return "loaded reset=no"
}

func (s *protocolServer) run(times uint64) string {
	contestant, ok := s.contestant.(inParts)
	if !ok {
		elapsed, checksum := protocolBatch(s.contestant.Run, times)
		return fmt.Sprintf("ran elapsed_ns=%d checksum=%d", elapsed, checksum)
	}
	var elapsed int64
	var checksum uint64
	var each []string
	for _, part := range contestant.Parts() {
		took, value := protocolBatch(part, times)
		elapsed += took
		checksum = checksum*31 + value
		each = append(each, strconv.FormatInt(took, 10))
	}
	list := strings.Join(each, ",")
	return fmt.Sprintf("ran elapsed_ns=%d checksum=%d parts_ns=%s", elapsed, checksum, list)
}

func (s *protocolServer) dump(path string) string {
	file, err := os.Create(path)
	if err != nil {
		panic(err)
	}
	counted := &protocolCounter{out: bufio.NewWriter(file)}
	s.contestant.Dump(counted)
	if err := counted.out.Flush(); err != nil {
		panic(err)
	}
	if err := file.Close(); err != nil {
		panic(err)
	}
	return fmt.Sprintf("dumped bytes=%d", counted.bytes)
}

type protocolCounter struct {
	out   *bufio.Writer
	bytes int
}

func (c *protocolCounter) Write(data []byte) (int, error) {
	written, err := c.out.Write(data)
	c.bytes += written
	return written, err
}

// Runs it so many times: the time and the checksum, which must be the same each time.
func protocolBatch(run func() uint64, times uint64) (int64, uint64) {
	if times == 0 {
		return 0, 0
	}
	differs := false
	start := time.Now()
	checksum := run()
	for i := uint64(1); i < times; i++ {
		if run() != checksum {
			differs = true
		}
	}
	elapsed := time.Since(start).Nanoseconds()
	if differs {
		panic("the checksum changed from one run to the next")
	}
	return elapsed, checksum
}

// NAME=VALUE words; the last one, path, goes to the end of the line.
func protocolFields(text string) map[string]string {
	fields := map[string]string{}
	words, path, hasPath := strings.Cut(text, "path=")
	if hasPath {
		fields["path"] = path
	}
	for _, word := range strings.Fields(words) {
		name, value, _ := strings.Cut(word, "=")
		fields[name] = value
	}
	return fields
}

func protocolNumber(text string) uint64 {
	if text == "" {
		return 0
	}
	number, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		panic(err)
	}
	return number
}
