package bounds

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"bridged/internal/bridge"
	. "bridged/internal/e2e/harness"
	"bridged/internal/simnet"
)

const (
	longTexts       = 300
	longText        = 65_000 // characters
	unreadPages     = 10
	memoryOfUnread  = 160 << 20
	smallestReceive = 4 << 10
)

// Pages of the longest messages whose callers do not read take little memory: a
// page is limited in bytes and written while it is encoded.
func TestPages_UnreadHoldLittleMemory(t *testing.T) {
	network, owner := NewOwner(t, simnet.PhoneOptions{})
	sam := NewPhone(t, network, simnet.PhoneOptions{Number: "15550100504", Name: "Sam"})
	p := StartBridge(t, network, "LOG_LEVEL=info")
	device := Pair(t, p, owner)
	text := strings.Repeat("long ", longText/len("long "))
	ids := Must(simnet.Burst(Within(t), []*simnet.Phone{sam}, owner.PN(), longTexts, func(int) string { return text }))(t)
	if err := device.WaitAcknowledged(Within(t), ids...); err != nil {
		t.Fatal(err)
	}
	before := p.Memory(t)
	history := Path("/api/messages/individual/%s", sam.PN())
	for name, query := range map[string]string{
		"a history":      history + "?limit=1000",
		"a filtered one": history + "?limit=1000&q=long",
		"a search":       "/api/messages/search?limit=500&q=long",
		"events":         "/api/events?limit=1000",
	} {
		t.Run(name, func(t *testing.T) {
			p.ResetPeak(t)
			for range unreadPages {
				askWithoutReading(p, t, query)
			}
			peak := p.Peak(t)
			t.Logf("%d unread pages: +%d MB at the most", unreadPages, (peak-before)>>20)
			if !UnderRaceDetector && peak-before > memoryOfUnread {
				t.Errorf("%d unread pages take %d MB, want at most %d", unreadPages, (peak-before)>>20, memoryOfUnread>>20)
			}
		})
	}
	found := 0
	for m, err := range p.API.AllMessages(Within(t), bridge.MessageQuery{Chat: bridge.JID(sam.PN().String()), Limit: 1000}) {
		if err != nil || len(m.Content) != longText {
			t.Fatalf("%d characters, %v", len(m.Content), err)
		}
		found++
	}
	if found != longTexts {
		t.Errorf("a client that follows the pages found %d of %d messages", found, longTexts)
	}
}

// askWithoutReading sends a request and waits for the first byte of the answer.
func askWithoutReading(p *Process, t *testing.T, query string) {
	t.Helper()
	conn, err := net.Dial("tcp", p.Address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	if err := conn.(*net.TCPConn).SetReadBuffer(smallestReceive); err != nil {
		t.Fatal(err)
	}
	if _, err := fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: bridged\r\nAuthorization: Bearer %s\r\n\r\n", query, TestToken); err != nil {
		t.Fatal(err)
	}
	status := make([]byte, len("HTTP/1.1 200"))
	if _, err := io.ReadFull(conn, status); err != nil || string(status) != fmt.Sprint("HTTP/1.1 ", http.StatusOK) {
		t.Fatalf("answered %q, %v", status, err)
	}
}
