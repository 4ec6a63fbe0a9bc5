package main

import (
	"fmt"
	"io"
	"sort"
	"strings"
)

type count struct {
	words  []string
	counts map[string]int
	drifts bool
	runs   uint64
}

func (c *count) Run() uint64 {
	fmt.Println("printed")
	c.runs++
	c.Reset()
	for _, word := range c.words {
		c.counts[word]++
	}
	if c.drifts {
		return c.runs
	}
	return uint64(len(c.counts))
}

func (c *count) Reset() { c.counts = map[string]int{} }

func (c *count) Dump(out io.Writer) {
	var words []string
	for word := range c.counts {
		words = append(words, word)
	}
	sort.Strings(words)
	for _, word := range words {
		fmt.Fprintf(out, "%s %d\n", word, c.counts[word])
	}
}

func main() {
	Serve(func(input []byte, workload Workload) Contestant {
		words := strings.Fields(string(input))
		return &count{words: words, drifts: workload.Name == "drift"}
	})
}
