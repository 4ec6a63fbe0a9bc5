package main

import (
	"fmt"
	"io"
)

type parts struct{ workload Workload }

func (p parts) Parts() []func() uint64 {
	return []func() uint64{
		func() uint64 { return p.workload.Size },
		func() uint64 { return p.workload.Items },
	}
}

func (p parts) Run() uint64 { panic("there are parts") }

func (p parts) Dump(out io.Writer) { fmt.Fprint(out, p.workload.Seed) }

func main() {
	Serve(func(_ []byte, workload Workload) Contestant { return parts{workload} })
}
