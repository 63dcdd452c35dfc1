package bounds

import (
	"flag"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	. "bridged/internal/e2e/harness"
	"bridged/internal/simnet"
)

// connectionCount is the number of connections of TestUnauthenticated_HoldLittleMemory. The
// figure that counts is for 5,000:
//
//	go test ./internal/e2e/bounds -run TestUnauthenticated -connections 5000 -v
var connectionCount = flag.Int("connections", 1500, "how many connections without a token to open at once")

const (
	memoryOfConnections = 150 << 20
	memoryOfBodies      = 64 << 20
)

// Connections without a token cost little memory, however many there are and
// however long their endless heads get. Meanwhile /healthz answers, and connections
// with the token stay.
func TestUnauthenticated_HoldLittleMemory(t *testing.T) {
	t.Parallel()
	network, owner := NewOwner(t, simnet.PhoneOptions{})
	sam := NewPhone(t, network, simnet.PhoneOptions{Number: "15550100504", Name: "Sam"})
	p := StartBridge(t, network, "LOG_LEVEL=info")
	Pair(t, p, owner)
	streams := openStreams(p, t, 20)
	for name, head := range map[string]string{
		"as many fields as there may be": "GET /healthz HTTP/1.1\r\n" + strings.Repeat("A:"+strings.Repeat("x", 77)+"\r\n", 100),
		"tiny fields":                    "GET /healthz HTTP/1.1\r\n" + strings.Repeat("A:\r\n", 8_000),
		"nothing":                        "",
		"logins of a megabyte":           "POST /login HTTP/1.1\r\nHost: localhost\r\nSec-Fetch-Site: same-origin\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 1048576\r\n\r\n" + strings.Repeat("x", 1<<20-1),
		"a body that does not come":      "POST /healthz HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\n{",
	} {
		t.Run(name, func(t *testing.T) {
			before := p.Memory(t)
			p.ResetPeak(t)
			hold := openAll(p, t, *connectionCount, head)
			begin := time.Now()
			resp, err := (&http.Client{Timeout: TestTimeout, Transport: &http.Transport{DisableKeepAlives: true}}).Get("http://" + p.Address + "/healthz")
			if err != nil || resp.StatusCode != http.StatusOK {
				t.Errorf("/healthz: %v, %v", resp, err)
			} else {
				resp.Body.Close()
			}
			took := time.Since(begin)
			peak := p.Peak(t)
			t.Logf("%d connections: +%d KB at the most; /healthz in %v", *connectionCount, (peak-before)>>10, took)
			if !UnderRaceDetector && peak-before > memoryOfConnections {
				t.Errorf("%d connections take %d MB, want at most %d", *connectionCount, (peak-before)>>20, memoryOfConnections>>20)
			}
			hold()
		})
	}
	Must(sam.SendText(Within(t), owner.PN(), "to all"))(t)
	streams.tell(t)
}

// openAll opens connections that each send the same text and then nothing. The
// server may close them; the returned function closes the rest.
func openAll(p *Process, t *testing.T, count int, text string) (closeAll func()) {
	t.Helper()
	conns := make([]net.Conn, count)
	var opening sync.WaitGroup
	atOnce := make(chan struct{}, 32)
	for i := range conns {
		atOnce <- struct{}{}
		opening.Go(func() {
			defer func() { <-atOnce }()
			conn, err := net.Dial("tcp", p.Address)
			if err != nil {
				t.Error(err)
				return
			}
			conns[i] = conn
			_, _ = io.WriteString(conn, text) // the server may have closed it already
		})
	}
	opening.Wait()
	return func() {
		for _, conn := range conns {
			if conn != nil {
				conn.Close()
			}
		}
	}
}

// A hundred concurrent bodies of a megabyte, of a kind that grows when decoded,
// stay within their limit.
func TestBodies_HoldLittleMemory(t *testing.T) {
	t.Parallel()
	network, owner := NewOwner(t, simnet.PhoneOptions{})
	p := StartBridge(t, network, "LOG_LEVEL=info")
	Pair(t, p, owner)
	body := `{"jid":"` + owner.PN().String() + `","contacts":[{}` + strings.Repeat(`,{}`, 349_000) + `]}`
	before := p.Memory(t)
	p.ResetPeak(t)
	var posting sync.WaitGroup
	for range 100 {
		posting.Go(func() {
			p.Post("/api/messages/send-contact", body).Want(http.StatusBadRequest)
		})
	}
	posting.Wait()
	peak := p.Peak(t)
	t.Logf("100 bodies of %d KB: +%d KB at the most", len(body)>>10, (peak-before)>>10)
	if !UnderRaceDetector && peak-before > memoryOfBodies {
		t.Errorf("100 bodies take %d MB, want at most %d", (peak-before)>>20, memoryOfBodies>>20)
	}
}
