package bounds

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"testing"

	"bridged/internal/bridge"
	. "bridged/internal/e2e/harness"
)

const (
	longTexts       = 200
	longText        = 65_000 // characters
	unreadPages     = 10
	memoryOfUnread  = 160 << 20
	smallestReceive = 4 << 10
)

// pages asks for pages of the longest messages.
func (s unreadScene) pages(t *testing.T) {
	history := Path("/api/messages/individual/%s", s.Friend.PN())
	for name, query := range map[string]string{
		"a history":      history + "?limit=1000",
		"a filtered one": history + "?limit=1000&q=long",
		"a search":       "/api/messages/search?limit=500&q=long",
		"events":         "/api/events?limit=1000",
	} {
		t.Run(name, func(t *testing.T) {
			s.ResetPeak(t)
			for range unreadPages {
				askWithoutReading(s.Process, t, query)
			}
			peak := s.Peak(t)
			t.Logf("%d unread pages: +%d MB at the most", unreadPages, (peak-s.idle)>>20)
			if !UnderRaceDetector && peak-s.idle > memoryOfUnread {
				t.Errorf("%d unread pages take %d MB, want at most %d", unreadPages, (peak-s.idle)>>20, memoryOfUnread>>20)
			}
		})
	}
	found := 0
	for m, err := range s.API.AllMessages(Within(t), bridge.MessageQuery{Chat: bridge.JID(s.Friend.PN().String()), Limit: 1000}) {
		if err != nil {
			t.Fatal(err)
		}
		if len(m.Content) == longText {
			found++
		}
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
