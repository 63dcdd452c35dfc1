package media

import (
	"fmt"
	"io"
	"math/rand/v2"
	"sync"
	"testing"

	"bridged/internal/bridge"
	"bridged/internal/client"
	. "bridged/internal/e2e/harness"
)

const (
	// largeFiles is the number of concurrent uploads.
	largeFiles = 2
	// memoryOfUploads bounds the program's memory for all of them.
	memoryOfUploads = 64 << 20
)

// TestSendFile_LargeOnesTakeLittleMemory: files go from the caller to the disk and
// from there, encrypted, to the network, and are never whole in memory.
func TestSendFile_LargeOnesTakeLittleMemory(t *testing.T) {
	t.Parallel()
	c := PairedCast(t)
	p, to := c.Bridge, bridge.JID(c.Anna.PN().String())
	upload := func(n int, size int64) error {
		file := io.LimitReader(rand.NewChaCha8([32]byte{byte(n)}), size)
		_, err := p.API.SendFile(Within(t), client.Upload{To: to, FileName: fmt.Sprint(n, ".bin"), Type: bridge.MediaDocument}, file, "")
		return err
	}
	if err := upload(0, 1<<20); err != nil { // warms up, so that only the uploads are measured
		t.Fatal(err)
	}
	before := p.Memory(t)
	p.ResetPeak(t)
	var uploads sync.WaitGroup
	for n := range largeFiles {
		uploads.Go(func() {
			if err := upload(n+1, LargeFile); err != nil {
				t.Errorf("file %d: %v", n, err)
			}
		})
	}
	uploads.Wait()
	grown := p.Peak(t) - before
	t.Logf("%d files of %d MB at once: +%d MB at the most", largeFiles, LargeFile>>20, grown>>20)
	if !UnderRaceDetector && grown > memoryOfUploads {
		t.Errorf("%d files of %d MB at once take %d MB, want at most %d", largeFiles, LargeFile>>20, grown>>20, memoryOfUploads>>20)
	}
}
