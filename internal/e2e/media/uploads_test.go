package media

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	. "bridged/internal/e2e/harness"
	"bridged/internal/simnet"
)

// Sixteen unfinished uploads of one token take up a bounded share of the disk and
// block no other caller's.
func TestUploads_UnderWayAreBounded(t *testing.T) {
	const files, size, came = 16, 8 << 20, 6 << 20
	network, _ := NewOwner(t, simnet.PhoneOptions{})
	p := StartBridge(t, network, FewConnections, "LOG_LEVEL=info", fmt.Sprint("MEDIA_MAX_BYTES=", size))
	_, small := p.NewToken(t, "small", "send")
	form := func(content int) (head, tail string) {
		return "--b\r\nContent-Disposition: form-data; name=\"jid\"\r\n\r\n15550100999@s.whatsapp.net\r\n" +
			"--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"f.bin\"\r\n\r\n" + strings.Repeat("x", content), "\r\n--b--\r\n"
	}
	begin := func(token string, announced int) string {
		return "POST /api/messages/send-file HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " + token +
			"\r\nContent-Type: multipart/form-data; boundary=b\r\nContent-Length: " + fmt.Sprint(announced) + "\r\n\r\n"
	}
	head, _ := form(came)
	for range files {
		conn := Must(net.Dial("tcp", p.Address))(t)
		t.Cleanup(func() { conn.Close() })
		go func() { _, _ = io.WriteString(conn, begin(small, size)+head) }() // until the program stops reading
	}
	p.WaitForKnown(t, files)
	stored := func() (sum int64) {
		for _, path := range Must(filepath.Glob(filepath.Join(p.Env["DATA_DIR"], "tmp", "*")))(t) {
			if info, err := os.Stat(path); err == nil {
				sum += info.Size()
			}
		}
		return sum
	}
	Eventually(t, func() error {
		if got := stored(); got < came {
			return fmt.Errorf("%d bytes have come", got)
		}
		return nil
	})
	// Other callers' uploads are meanwhile received whole.
	head, tail := form(5 << 20)
	if status := p.SendAnew(t, begin(TestToken, len(head)+len(tail))+head+tail); status != http.StatusServiceUnavailable {
		t.Errorf("a file of BRIDGE_TOKEN: %d, want 503 because the account is not paired", status)
	}
	p.WaitForLog(t, "not_connected")
	// One of the largest size, or a megabyte of each other: half of everything.
	most := int64(size + files<<20)
	got := stored()
	t.Logf("%d files of which %d MB come take %d MB", files, came>>20, got>>20)
	if got > most {
		t.Errorf("%d files take %d bytes, want at most %d", files, got, most)
	}
}
