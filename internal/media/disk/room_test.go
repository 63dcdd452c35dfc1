package disk

import (
	"bytes"
	"errors"
	"os"
	"syscall"
	"testing"

	"bridged/internal/media/mediatest"
)

// boundedWriter is full after a number of bytes.
type boundedWriter struct {
	bytes.Buffer
	left int
}

func (w *boundedWriter) Write(p []byte) (int, error) {
	n := min(len(p), w.left)
	w.left -= n
	w.Buffer.Write(p[:n])
	if n < len(p) {
		return n, syscall.ENOSPC
	}
	return n, nil
}

func TestRoom_WritingGoesOnWhereItStopped(t *testing.T) {
	disk := &boundedWriter{left: 10}
	given := 0
	w := Room(func(size int64) bool {
		given++
		disk.left += 30
		return given < 4
	}).Writer(disk)
	if n, err := w.Write(mediatest.RandomBytes(90)); n != 90 || err != nil || !bytes.Equal(disk.Bytes(), mediatest.RandomBytes(90)) || given != 3 {
		t.Errorf("wrote %d bytes with room made %d times: %v", n, given, err)
	}
	if n, err := w.Write(mediatest.RandomBytes(90)); n != 10 || !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("wrote %d bytes where there is no room left: %v", n, err)
	}
	var none Room
	if n, err := none.Writer(&boundedWriter{left: 5}).Write(make([]byte, 6)); n != 5 || !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("wrote %d bytes where nothing makes room: %v", n, err)
	}
}

func TestRoom_MakesFiles(t *testing.T) {
	full := true
	made, err := Room(func(int64) bool { was := full; full = false; return was }).Create(func() (*os.File, error) {
		if full {
			return nil, &os.PathError{Op: "open", Err: syscall.EDQUOT}
		}
		return os.CreateTemp(t.TempDir(), "x")
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := made.Close(); err != nil {
		t.Error(err)
	}
}
