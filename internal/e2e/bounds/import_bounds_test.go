package bounds

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"bridged/internal/bridge"
	"bridged/internal/chatexport/exporttest"
	"bridged/internal/client"
	. "bridged/internal/e2e/harness"
)

const (
	// memoryOfImports bounds the memory that an import takes, in bytes.
	memoryOfImports = 100 << 20
	sizeOfImports   = 120 << 20 // bytes of text
)

// TestImports_HoldLittleMemory however long the lines, texts and names of an export are, of which a
// small zip has more than the memory that is allowed.
func TestImports_HoldLittleMemory(t *testing.T) {
	t.Parallel()
	p := StartBridge(t, NewNetwork(t), "LOG_LEVEL=info")
	long := strings.Repeat("x", 1<<20-100)
	for name, line := range map[string]func(n int) string{
		"texts of a megabyte":          func(n int) string { return fmt.Sprintf("01.01.24, %02d:%02d - Anna: %s\n", n/60, n%60, long) },
		"names in lines of a megabyte": func(n int) string { return fmt.Sprintf("01.01.24, 10:00 - %d: %s\n", n, long) },
	} {
		t.Run(name, func(t *testing.T) {
			var text bytes.Buffer
			text.Grow(sizeOfImports + 1<<20)
			for n := 0; text.Len() < sizeOfImports; n++ {
				text.WriteString(line(n))
			}
			zip := exporttest.Zip(t, exporttest.Entry{Name: "WhatsApp Chat with Anna.txt", Data: text.Bytes()})
			before := p.Memory(t)
			p.ResetPeak(t)
			done := Must(p.API.ImportChat(Within(t), client.ChatExport{Chat: name, Timezone: "UTC", FileName: "chat.zip"}, bytes.NewReader(zip)))(t)
			Eventually(t, func() error {
				if done = Must(p.API.Import(Within(t), done.ID))(t); done.State == bridge.ImportRunning {
					return errors.New("the import is running")
				}
				return nil
			})
			peak := p.Peak(t)
			t.Logf("%d KB of zip, %s: +%d MB at the most", len(zip)>>10, done.State, (peak-before)>>20)
			if !UnderRaceDetector && peak-before > memoryOfImports {
				t.Errorf("it takes %d MB, want at most %d", (peak-before)>>20, memoryOfImports>>20)
			}
		})
	}
}
