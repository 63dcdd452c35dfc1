package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"bridged/internal/api/front"
	"bridged/internal/bridge"
	"bridged/internal/client"
	"bridged/internal/intake"
	"bridged/internal/longtest"
)

// bigFile is an API in which a message has a text of some bytes.
type bigFile struct{ content }

// bigText counts the bytes of the text, the most that read_file takes.
const bigText = maxDocument

// ServeHTTP implements http.Handler.
func (b bigFile) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case strings.Contains(r.URL.Path, "/messages/media-info/"):
		media := bridge.Media{Type: bridge.MediaDocument, FileName: "big.txt", MimeType: "text/plain", Size: bigText}
		if err := json.NewEncoder(w).Encode(map[string]any{"media": media}); err != nil {
			panic(err)
		}
	case strings.Contains(r.URL.Path, "/messages/media/"):
		block := bytes.Repeat([]byte("0123456789abcde\n"), 4<<10)
		for range bigText / len(block) {
			if _, err := w.Write(block); err != nil {
				return // the reader has what it needs
			}
		}
	default:
		b.content.ServeHTTP(w, r)
	}
}

// A call of read_file holds the part of the text that it shows, not the file: forty at once of a
// text of 10 MiB took 3.4 GB.
func TestReadFile_HoldsNoFile(t *testing.T) {
	call := toolsOver(t, bigFile{ordinary})
	read := func(offset int) map[string]any {
		arguments := map[string]any{"jid": testChat, "msgId": "3EB010000", "offset": offset}
		return call("tools/call", "read_file", map[string]any{"name": "read_file", "arguments": arguments})
	}
	read(0) // which allocates what stays
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	calls := longtest.Else(10, 40)
	var all sync.WaitGroup
	for i := range calls {
		all.Go(func() {
			result := read(i * 200_000)
			if shown := result["structuredContent"].(map[string]any); shown["characters"] != float64(bigText) || shown["nextOffset"] == nil {
				t.Errorf("at %d: %v characters, next %v", i, shown["characters"], shown["nextOffset"])
			}
		})
	}
	all.Wait()
	runtime.ReadMemStats(&after)
	each := (after.TotalAlloc - before.TotalAlloc) / uint64(calls)
	if each > 2<<20 {
		t.Errorf("a call allocates %d KB", each>>10)
	}
	t.Logf("a call allocates %d KB", each>>10)
}

// endless never ends.
type endless struct{}

func (endless) Read(p []byte) (int, error) { return len(p), nil }
func (endless) Close() error               { return nil }

// A file that is larger than its sender says is not read on.
func TestReadFile_EndsAtItsLimit(t *testing.T) {
	n, err := io.Copy(io.Discard, &limited{endless{}, maxDocument})
	if bridge.CodeOf(err) != bridge.CodeUnsupportedMedia || n > maxDocument {
		t.Errorf("%d bytes, %v", n, err)
	}
}

// The answers of one token tree hold at most half of the memory for answers, and BRIDGE_TOKEN's
// are never held up. What a request holds is free when it has ended.
func TestAnswers_HoldMemoryByTokenTree(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := New(Options{Client: client.InProcess(http.NotFoundHandler(), "")})
		memory := func(tree int64) *front.Memory {
			return s.answers.Answer(httptest.NewRecorder(), tree, front.AnswerTimeout)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		var of7 []*front.Memory
		for range answersBytes / 2 / readBytes {
			held := memory(7)
			if err := held.Reserve(ctx, readBytes); err != nil {
				t.Fatal(err)
			}
			of7 = append(of7, held)
		}
		for _, tree := range []int64{8, intake.Operator} {
			held := memory(tree)
			if err := held.Reserve(ctx, readBytes); err != nil {
				t.Errorf("of %d: %v", tree, err)
			}
			held.Release()
		}
		late := memory(7)
		if err := late.Reserve(ctx, readBytes); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("one too many: %v", err)
		}
		of7[0].Release()
		if err := late.Reserve(t.Context(), readBytes); err != nil {
			t.Errorf("after one has ended: %v", err)
		}
	})
}
