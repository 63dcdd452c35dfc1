package bounds

import (
	"bufio"
	"bytes"
	"flag"
	"fmt"
	"net"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	. "bridged/internal/e2e/harness"
	"bridged/internal/simnet"
)

// streamCount is the number of streams of TestStreams_Many. The figures that count
// are for 2,000, on an idle machine:
//
//	go test ./internal/e2e/bounds -run TestStreams_Many -streams 2000 -v
var streamCount = flag.Int("streams", 500, "how many streams of events to open at once")

// memoryOfStream bounds a stream's memory, so that 2,000 of them, more than one
// account needs, and the program itself stay within 150 MB. The time for an event
// to reach them all is logged but not checked: it depends on the machine as much as
// on the program.
const (
	memoryOfStream = 50 << 10
	memoryOfEvents = 8 << 20 // for the test's messages
)

// TestStreams_Many holds many streams open and follows events to all of them.
func TestStreams_Many(t *testing.T) {
	network, owner := NewOwner(t, simnet.PhoneOptions{})
	sam := NewPhone(t, network, simnet.PhoneOptions{Number: "15550100504", Name: "Sam"})
	p := StartBridge(t, network, "LOG_LEVEL=info", "MAX_CONNECTIONS="+strconv.Itoa(*streamCount+2096))
	Pair(t, p, owner)
	before := p.Memory(t)
	streams := openStreams(p, t, *streamCount)
	idle := p.Memory(t)
	var delays []time.Duration
	const rounds = 5
	for round := range rounds {
		Must(sam.SendText(Within(t), owner.PN(), fmt.Sprint("to all ", round)))(t)
		delays = append(delays, streams.tell(t)...)
	}
	after := p.Memory(t)
	slices.Sort(delays)
	p50, p99 := delays[len(delays)/2], delays[len(delays)*99/100]
	t.Logf("%d streams: %d MB before, %d MB idle (%d KB a stream), %d MB after %d events; to all of them p50 %v, p99 %v, max %v",
		*streamCount, before>>20, idle>>20, (idle-before)>>10/max(*streamCount, 1), after>>20, rounds, p50, p99, delays[len(delays)-1])
	if !UnderRaceDetector && max(idle, after)-before > *streamCount*memoryOfStream+memoryOfEvents {
		t.Errorf("%d streams take %d KB each, want at most %d", *streamCount, (max(idle, after)-before)>>10 / *streamCount, memoryOfStream>>10)
	}
}

// manyStreams are open streams that report each event they read.
type manyStreams struct {
	count int
	heard chan time.Duration
}

// openStreams opens streams and waits until each has begun.
func openStreams(p *Process, t testing.TB, count int) manyStreams {
	t.Helper()
	s := manyStreams{count, make(chan time.Duration, count)}
	begun := make(chan error, count)
	var conns sync.Map
	t.Cleanup(func() {
		conns.Range(func(conn, _ any) bool {
			conn.(net.Conn).Close()
			return true
		})
	})
	atOnce := make(chan struct{}, 64)
	for range count {
		atOnce <- struct{}{}
		go func() {
			conn, err := net.Dial("tcp", p.Address)
			<-atOnce
			if err != nil {
				begun <- err
				return
			}
			conns.Store(conn, true)
			_, err = fmt.Fprintf(conn, "GET /api/events?types=message.created HTTP/1.1\r\nHost: bridged\r\n"+
				"Authorization: Bearer %s\r\nAccept: text/event-stream\r\n\r\n", TestToken)
			if err != nil {
				begun <- err
				return
			}
			s.listen(conn, begun)
		}()
	}
	for range count {
		if err := <-begun; err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// listen reads a stream until it ends.
func (s manyStreams) listen(conn net.Conn, begun chan<- error) {
	reader := bufio.NewReaderSize(conn, 1<<10)
	for {
		line, err := reader.ReadSlice('\n')
		switch {
		case err == bufio.ErrBufferFull:
			continue
		case err != nil:
			return
		case bytes.HasPrefix(line, []byte("retry: ")):
			begun <- nil
		case bytes.HasPrefix(line, []byte("data: ")):
			if stored, ok := storedAt(line); ok {
				s.heard <- time.Since(stored)
			}
		}
	}
}

// storedAt returns an event's time, which comes first in it. Parsing all of it
// thousands of times would distort the measurement.
func storedAt(line []byte) (time.Time, bool) {
	_, rest, _ := bytes.Cut(line, []byte(`"timestamp":"`))
	text, _, _ := bytes.Cut(rest, []byte(`"`))
	at, err := time.Parse(time.RFC3339, string(text))
	return at, err == nil
}

// tell waits until an event has reached all streams.
func (s manyStreams) tell(t testing.TB) []time.Duration {
	t.Helper()
	delays := make([]time.Duration, 0, s.count)
	timeout := time.After(TestTimeout)
	for range s.count {
		select {
		case delay := <-s.heard:
			delays = append(delays, delay)
		case <-timeout:
			t.Fatalf("%d of %d streams have heard", len(delays), s.count)
		}
	}
	return delays
}
