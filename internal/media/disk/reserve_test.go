package disk

import (
	"io"
	"strings"
	"testing"

	"bridged/internal/bridge"
)

// TestReserve_IsLeftFree on disks of all sizes.
func TestReserve_IsLeftFree(t *testing.T) {
	for _, test := range []struct{ free, all, more int64 }{
		{2 << 30, 100 << 30, 1 << 30},
		{200 << 20, 500 << 20, 75 << 20},
		{30 << 20, 100 << 20, 5 << 20},
	} {
		r := &Reserve{Free: func(string) (int64, int64, error) { return test.free, test.all, nil }}
		if err := r.Check(test.more); err != nil {
			t.Errorf("%d of %d: %v", test.free, test.all, err)
		}
		if err := r.Check(test.more + 1); bridge.CodeOf(err) != bridge.CodeStorageUnavailable {
			t.Errorf("%d of %d: %v", test.free, test.all, err)
		}
	}
	var none *Reserve
	if err := none.Check(1 << 60); err != nil {
		t.Error(err)
	}
}

// TestReserve_EndsWhatFillsTheDisk while it is written.
func TestReserve_EndsWhatFillsTheDisk(t *testing.T) {
	free := int64(140 << 20)
	r := &Reserve{Free: func(string) (int64, int64, error) { return free, 1 << 30, nil }}
	n, err := io.Copy(writerFunc(func(p []byte) { free -= int64(len(p)) }), r.Reader(strings.NewReader(strings.Repeat("x", 64<<20))))
	if bridge.CodeOf(err) != bridge.CodeStorageUnavailable || n == 0 || free < minReserve {
		t.Errorf("%d bytes were written, %d are free: %v", n, free, err)
	}
}

type writerFunc func([]byte)

func (f writerFunc) Write(p []byte) (int, error) { f(p); return len(p), nil }
