// Package fuzzbudget limits the cost of one input of a fuzz target in time and memory: a parser
// of untrusted bytes may use a small multiple of its input.
package fuzzbudget

import (
	"runtime/metrics"
	"time"
)

// Budget limits the cost of one input.
type Budget struct {
	// Base is the number of bytes that any input may allocate.
	Base uint64
	// PerByte is the number of additional bytes for each byte of the input.
	PerByte uint64
	// Time limits the processor time of the process. Unlike elapsed time, it does not depend on
	// the load of the machine.
	Time time.Duration
}

// Usual is the budget for a parser that stores its input in another form.
var Usual = Budget{Base: 1 << 20, PerByte: 256, Time: time.Second}

// tries is how often an input that costs too much is run again: the first run may build tables,
// and the garbage collector may run at any time.
const tries = 3

// T has the methods of [testing.T] that Check needs.
type T interface {
	Helper()
	Errorf(format string, args ...any)
	Failed() bool
}

// Check runs the parser on an input of size bytes. It fails the test if each of three runs costs
// more than the budget.
func (b Budget) Check(t T, size int, run func()) {
	t.Helper()
	most := slack * (b.Base + b.PerByte*uint64(size))
	var took time.Duration
	var allocated uint64
	for range tries {
		before, began := allocatedBytes(), processorTime()
		run()
		took, allocated = processorTime()-began, allocatedBytes()-before
		if took <= b.Time && allocated <= most || t.Failed() {
			return
		}
	}
	t.Errorf("%d bytes of input took %v and allocated %d bytes; the budget is %v and %d", size, took, allocated, b.Time, most)
}

// allocatedBytes returns the total that the process has allocated, in steps of some KiB.
func allocatedBytes() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}
