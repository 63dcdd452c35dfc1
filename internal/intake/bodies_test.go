package intake

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/iotest"
	"testing/synctest"
)

// Bodies of every size come through whole, however they arrive, and leave
// nothing usage.
func TestBodies_AreReadWhole(t *testing.T) {
	bodies := NewBodies()
	random := rand.New(rand.NewPCG(1, 2))
	text := make([]byte, MaxBody)
	for i := range text {
		text[i] = byte(random.Int32())
	}
	for _, size := range []int64{0, 1, unreserved - 1, unreserved, unreserved + 1, 16<<10 - 1, 16 << 10, 16<<10 + 1, 128 << 10, 128<<10 + 1, MaxBody - 1, MaxBody} {
		for _, declared := range []int64{size, -1} {
			for name, slow := range map[string]func(io.Reader) io.Reader{"at once": func(r io.Reader) io.Reader { return r }, "with its end": iotest.DataErrReader, "by halves": iotest.HalfReader} {
				got, reserved, err := bodies.Read(t.Context(), Source{Reader: slow(bytes.NewReader(text[:size])), Declared: declared, Most: MaxBody})
				if err != nil || !bytes.Equal(got, text[:size]) {
					t.Errorf("%d bytes, declared %d, %s: %d, %v", size, declared, name, len(got), err)
				}
				reserved.Release()
				reserved.Release()
			}
		}
	}
	for i, quota := range bodies.steps {
		if quota.used != 0 {
			t.Errorf("step %d: %d are usage", i, quota.used)
		}
	}
}

func TestBodies_AreBounded(t *testing.T) {
	bodies, broken := NewBodies(), errors.New("broken")
	for name, test := range map[string]struct {
		from Source
		want error
	}{
		"declared too large":   {Source{Reader: iotest.ErrReader(broken), Declared: 101, Most: 100}, ErrBodyTooLarge},
		"too large":            {Source{Reader: strings.NewReader(strings.Repeat("x", 101)), Declared: -1, Most: 100}, ErrBodyTooLarge},
		"larger than declared": {Source{Reader: strings.NewReader(strings.Repeat("x", 101)), Declared: 100, Most: 1000}, ErrBodyTooLarge},
		"far too large":        {Source{Reader: strings.NewReader(strings.Repeat("x", 2<<20)), Declared: -1, Most: MaxBody}, ErrBodyTooLarge},
		"broken":               {Source{Reader: iotest.ErrReader(broken), Declared: 100, Most: 100}, broken},
		"broken when large":    {Source{Reader: io.MultiReader(strings.NewReader(strings.Repeat("x", 200<<10)), iotest.ErrReader(broken)), Declared: -1, Most: MaxBody}, broken},
	} {
		if _, _, err := bodies.Read(t.Context(), test.from); !errors.Is(err, test.want) {
			t.Errorf("%s: %v, want %v", name, err, test.want)
		}
	}
	for i, quota := range bodies.steps {
		if quota.used != 0 || len(quota.reservations) != 0 {
			t.Errorf("step %d: %d are usage", i, quota.used)
		}
	}
}

// However many bodies of a tree stop in the middle, another tree's is read at
// once, and its own as soon as the slow ones are cancel off.
func TestBodies_SlowOnesHoldUpNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bodies := NewBodies()
		slow := make(chan error, 100)
		for range 100 {
			reader, writer := io.Pipe()
			go func() { _, _ = writer.Write(make([]byte, 200<<10)) }() // ends with the reader
			go func() {
				_, _, err := bodies.Read(t.Context(), Source{Reader: reader, Declared: MaxBody, Most: MaxBody, Tree: 7, Cancel: func() { reader.Close() }})
				reader.Close()
				slow <- err
			}()
		}
		synctest.Wait()
		read := func(ctx context.Context, tree int64) error {
			_, reserved, err := bodies.Read(ctx, Source{Reader: bytes.NewReader(make([]byte, MaxBody)), Declared: MaxBody, Most: MaxBody, Tree: tree, Cancel: func() {}})
			reserved.Release()
			return err
		}
		for _, tree := range []int64{Operator, 8} {
			ctx, cancel := context.WithTimeout(t.Context(), timeout/2)
			if err := read(ctx, tree); err != nil {
				t.Errorf("tree %d: %v", tree, err)
			}
			cancel()
		}
		if err := read(t.Context(), 7); err != nil {
			t.Errorf("of the same tree: %v", err)
		}
		for range 100 {
			if err := <-slow; !errors.Is(err, ErrTooSlow) {
				t.Fatalf("a slow one ended with %v", err)
			}
			if len(slow) == 0 {
				break // the last four wait for nothing but their senders
			}
		}
	})
}
