package e2e

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"bridged/internal/bridge"
	"bridged/internal/simnet"
)

// TestStop_SendsInFlightAreAnsweredTruthfully stops the program while messages are
// on their way: a 200 means that the message arrived, everything else is an error
// with a sentence.
func TestStop_SendsInFlightAreAnsweredTruthfully(t *testing.T) {
	t.Parallel()
	network, owner := newOwner(t, simnet.PhoneOptions{})
	friend := newPhone(t, network, simnet.PhoneOptions{Number: "15550100301", Name: "Sam"})
	p := startBridge(t, network)
	device := pair(t, p, owner)
	const sends = 8
	for n := range sends {
		device.FailSends(simnet.SendFault{AckDelay: time.Duration(n) * 400 * time.Millisecond})
	}
	type answer struct {
		status int
		id     string
		text   string
	}
	answers := make(chan answer, sends)
	var started sync.WaitGroup
	for n := range sends {
		started.Add(1)
		go func() {
			text := fmt.Sprintf("on the way %d", n)
			started.Done()
			body := fmt.Sprintf(`{"jid": "%s@s.whatsapp.net", "text": "%s"}`, friend.Number(), text)
			status, reply := p.post("/api/messages/send", body)
			answers <- answer{status, reply, text}
		}()
	}
	started.Wait()
	if _, err := friend.Received(within(t), func(r *simnet.Received) bool { return strings.HasPrefix(r.Text(), "on the way") }); err != nil {
		t.Fatal(err)
	}
	p.stop()
	for range sends {
		a := <-answers
		t.Logf("%s: %d", a.text, a.status)
		if a.status == http.StatusOK {
			must(friend.ReceivedText(within(t), a.text))(t)
		}
		if a.status != http.StatusOK && a.status != http.StatusServiceUnavailable && a.status != http.StatusGatewayTimeout && a.status != 0 {
			t.Errorf("%q was answered %d: %s", a.text, a.status, a.id)
		}
	}
}

// post makes a call that may fail: status 0 means that the connection was refused.
func (p *process) post(path, body string) (int, string) {
	req, err := http.NewRequest(http.MethodPost, "http://"+p.address+path, strings.NewReader(body))
	if err != nil {
		return 0, err.Error()
	}
	req.Header.Set("Authorization", "Bearer "+testToken)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, err.Error()
	}
	defer resp.Body.Close()
	reply, err := io.ReadAll(resp.Body)
	if err != nil {
		return 0, err.Error()
	}
	return resp.StatusCode, string(reply)
}

// TestLongLife_LeavesNothingBehind counts the process's descriptors before and
// after many lost connections and callers that hang up.
func TestLongLife_LeavesNothingBehind(t *testing.T) {
	t.Parallel()
	network, owner := newOwner(t, simnet.PhoneOptions{})
	friend := newPhone(t, network, simnet.PhoneOptions{Number: "15550100301", Name: "Sam"})
	p := startBridge(t, network)
	device := pair(t, p, owner)
	must(friend.SendText(within(t), owner.PN(), "hello"))(t)
	if err := device.WaitQuiet(within(t)); err != nil {
		t.Fatal(err)
	}
	before := p.held()
	const reconnections, aborted = 20, 200
	for n := range reconnections {
		device.Drop()
		// A flapping connection is dialled with pauses, unless a person asks for
		// it.
		eventually(t, func() error {
			p.Post("/api/auth/reconnect", nil).Want(http.StatusOK)
			if logins := device.Counters().Logins; logins < n+2 {
				return fmt.Errorf("%d logins, want %d", logins, n+2)
			}
			return nil
		})
		p.becomes(bridge.StateOpen)
	}
	for range aborted {
		p.abort("POST /api/messages/send HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " + testToken + "\r\nContent-Length: 100\r\n\r\n{")
	}
	eventually(t, func() error {
		if after := p.held(); after > before+5 {
			return fmt.Errorf("%d descriptors before, %d after", before, after)
		}
		return nil
	})
	files, err := os.ReadDir(p.env["DATA_DIR"] + "/tmp")
	if err != nil || len(files) > 0 {
		t.Errorf("temporary files left: %v, %v", files, err)
	}
}

// held returns the number of open descriptors.
func (p *process) held() int {
	p.t.Helper()
	list, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", p.cmd.Process.Pid))
	if err != nil {
		p.t.Skipf("descriptors cannot be counted here: %v", err)
	}
	return len(list)
}

// abort sends a part of a request and hangs up.
func (p *process) abort(part string) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.t.Context(), testPatience)
	defer cancel()
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", p.address)
	if err != nil {
		p.t.Fatal(err)
	}
	if _, err := conn.Write([]byte(part)); err != nil {
		p.t.Error(err)
	}
	if err := conn.Close(); err != nil {
		p.t.Error(err)
	}
}

// A stop closes session.db first, whose write-ahead log disappears: that is not a data directory that was
// taken away, and the text of deleted messages is overwritten.
func TestStop_FinishesErasing(t *testing.T) {
	t.Parallel()
	p := startBridge(t, newNetwork(t))
	p.becomes(bridge.StateNeedsPair)
	p.stop()
	if log := p.log.String(); strings.Contains(log, "deleted text may still be on the disk") {
		t.Errorf("the stop did not finish erasing:\n%s", log)
	}
}
