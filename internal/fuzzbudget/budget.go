// Package fuzzbudget bounds the cost of one input of a fuzz target, in time and in
// memory: a parser of strangers' bytes takes a small multiple of any input.
package fuzzbudget

import (
	"runtime/metrics"
	"time"
)

// Budget bounds the cost of one input.
type Budget struct {
	// Base limits the bytes that any input may have allocated.
	Base uint64
	// PerByte adds to that for each byte of the input.
	PerByte uint64
	// Time bounds the processor's time of the process, in which a busy machine
	// does not show.
	Time time.Duration
}

// Usual suits a parser that keeps its input in another form.
var Usual = Budget{Base: 1 << 20, PerByte: 256, Time: time.Second}

// tries limits the runs of an input that costs too much: a first run may build
// tables, and the collector may run beside any.
const tries = 3

// T lists the methods of [testing.T] that Check needs.
type T interface {
	Helper()
	Errorf(format string, args ...any)
	Failed() bool
}

// Check runs the parser on an input of some bytes, and fails the test where each
// of three runs costs more than the budget.
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

// allocatedBytes returns what the process has allocated so far, in steps of some
// KiB.
func allocatedBytes() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}
