package intake

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// However many files of a tree stop in the middle, others are received at once;
// and one of its own, behind a few of them, when they are cancel off.
func TestFiles_AreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const most = 90 << 20
		files := NewFiles(most)
		ended, last := make(chan error, 100), make(chan struct{})
		stop := func() {
			reader, writer := io.Pipe()
			go func() { _, _ = io.CopyN(writer, zeros{}, 80<<20) }() // ends with the reader
			go func() { <-last; reader.Close() }()
			go func() {
				file := files.Begin(7, func() { reader.Close() })
				file.Declare(most)
				_, err := io.Copy(io.Discard, file.Reader(t.Context(), reader))
				reader.Close()
				file.Close()
				ended <- err
			}()
			synctest.Wait()
		}
		receive := func(ctx context.Context, tree, size int64) error {
			file := files.Begin(tree, func() {})
			defer file.Close()
			file.Declare(size)
			_, err := io.Copy(io.Discard, file.Reader(ctx, io.LimitReader(zeros{}, size)))
			return err
		}
		for range 3 {
			stop()
		}
		if err := receive(t.Context(), 7, most); err != nil {
			t.Errorf("of the same tree: %v", err)
		}
		for range 97 {
			stop()
		}
		before := len(ended)
		for _, tree := range []int64{Operator, 8} {
			ctx, cancel := context.WithTimeout(t.Context(), fileTimeout/2)
			for _, size := range []int64{1000, most / 2} {
				if err := receive(ctx, tree, size); err != nil {
					t.Errorf("%d bytes of tree %d: %v", size, tree, err)
				}
			}
			cancel()
		}
		if len(ended) != before {
			t.Errorf("%d were ended for others", len(ended)-before)
		}
		close(last)
		for range 100 {
			if err := <-ended; !errors.Is(err, ErrTooSlow) && !errors.Is(err, io.ErrClosedPipe) {
				t.Fatalf("one ended with %v", err)
			}
		}
		if files.small.used != 0 || files.large.used != 0 {
			t.Errorf("%d and %d are usage in the end", files.small.used, files.large.used)
		}
	})
}

// zeros is a file without end.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

// Whoever waits for room too long, or goes, is let go.
func TestFiles_WaitAWhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		files := NewFiles(100)
		for range 2 {
			if _, err := files.large.Take(t.Context(), Operator, 100, nil); err != nil {
				t.Fatal(err)
			}
			for reserved := range files.large.reservations {
				delete(files.large.reservations, reserved) // they have come, and are being sent
			}
		}
		files.step = 10
		file := files.Begin(Operator, nil)
		began := time.Now()
		if err := file.Received(t.Context(), 11); !errors.Is(err, ErrBusy) || time.Since(began) != waitTimeout {
			t.Errorf("ended with %v after %s", err, time.Since(began))
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := files.Begin(Operator, nil).Received(ctx, 11); !errors.Is(err, context.Canceled) {
			t.Errorf("one that goes ended with %v", err)
		}
	})
}

// The head of a part of a form is bounded, its content not.
func TestParts_HeadsAreBounded(t *testing.T) {
	form := func(head, content int) string {
		return "--b\r\nContent-Disposition: form-data; name=\"file\"\r\nX: " + strings.Repeat("x", head) + "\r\n\r\n" + strings.Repeat("y", content) + "\r\n--b--\r\n"
	}
	for name, test := range map[string]struct {
		form string
		want error
	}{
		"a small head":  {form(100, 1<<20), nil},
		"a large head":  {form(64<<10, 1), ErrPartHeader},
		"no head's end": {"--b\r\nX: " + strings.Repeat("x", 1<<20), ErrPartHeader},
	} {
		r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(test.form))
		r.Header.Set("Content-Type", "multipart/form-data; boundary=b")
		parts, err := NewParts(r)
		if err != nil {
			t.Fatal(err)
		}
		part, err := parts.Next()
		if !errors.Is(err, test.want) {
			t.Errorf("%s: %v, want %v", name, err, test.want)
		}
		if err != nil {
			continue
		}
		if content, err := io.ReadAll(part); err != nil || len(content) != 1<<20 {
			t.Errorf("%s: %d bytes, %v", name, len(content), err)
		}
		if _, err := parts.Next(); !errors.Is(err, io.EOF) {
			t.Errorf("%s: behind the last part: %v", name, err)
		}
	}
}
