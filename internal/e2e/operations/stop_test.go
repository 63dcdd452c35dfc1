package operations

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"bridged/internal/bridge"
	. "bridged/internal/e2e/harness"
	"bridged/internal/simnet"
)

// TestStop_SendsInFlightAreAnsweredTruthfully stops the program while messages are
// on their way: a 200 means that the message arrived, everything else is an error
// with a sentence.
func TestStop_SendsInFlightAreAnsweredTruthfully(t *testing.T) {
	t.Parallel()
	network, owner := NewOwner(t, simnet.PhoneOptions{})
	friend := NewPhone(t, network, simnet.PhoneOptions{Number: "15550100301", Name: "Sam"})
	p := StartBridge(t, network)
	device := Pair(t, p, owner)
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
			status, reply := post(p, "/api/messages/send", body)
			answers <- answer{status, reply, text}
		}()
	}
	started.Wait()
	if _, err := friend.Received(Within(t), func(r *simnet.Received) bool { return strings.HasPrefix(r.Text(), "on the way") }); err != nil {
		t.Fatal(err)
	}
	p.Stop()
	for range sends {
		a := <-answers
		t.Logf("%s: %d", a.text, a.status)
		if a.status == http.StatusOK {
			Must(friend.ReceivedText(Within(t), a.text))(t)
		}
		if a.status != http.StatusOK && a.status != http.StatusServiceUnavailable && a.status != http.StatusGatewayTimeout && a.status != 0 {
			t.Errorf("%q was answered %d: %s", a.text, a.status, a.id)
		}
	}
}

// post makes a call that may fail: status 0 means that the connection was refused.
func post(p *Process, path, body string) (int, string) {
	req, err := http.NewRequest(http.MethodPost, "http://"+p.Address+path, strings.NewReader(body))
	if err != nil {
		return 0, err.Error()
	}
	req.Header.Set("Authorization", "Bearer "+TestToken)
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
	network, owner := NewOwner(t, simnet.PhoneOptions{})
	friend := NewPhone(t, network, simnet.PhoneOptions{Number: "15550100301", Name: "Sam"})
	p := StartBridge(t, network)
	device := Pair(t, p, owner)
	Must(friend.SendText(Within(t), owner.PN(), "hello"))(t)
	if err := device.WaitQuiet(Within(t)); err != nil {
		t.Fatal(err)
	}
	before, _ := held(p)
	connections := max(4, runtime.GOMAXPROCS(0)) + 2 // those that read, that which writes, and that which erases
	const reconnections, aborted = 20, 200
	for n := range reconnections {
		device.Drop()
		// A flapping connection is dialled with pauses, unless a person asks for
		// it.
		Eventually(t, func() error {
			p.Post("/api/auth/reconnect", nil).Want(http.StatusOK)
			if logins := device.Counters().Logins; logins < n+2 {
				return fmt.Errorf("%d logins, want %d", logins, n+2)
			}
			return nil
		})
		p.Becomes(bridge.StateOpen)
	}
	for range aborted {
		abort(p, "POST /api/messages/send HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer "+TestToken+"\r\nContent-Length: 100\r\n\r\n{")
	}
	Eventually(t, func() error {
		after, ofStore := held(p)
		if after > before+5 {
			return fmt.Errorf("%d descriptors before, %d after", before, after)
		}
		if ofStore > 2*connections+1 { // each has the file and its log, and all share an index
			return fmt.Errorf("%d descriptors of the store", ofStore)
		}
		return nil
	})
	files, err := os.ReadDir(p.Env["DATA_DIR"] + "/tmp")
	if err != nil || len(files) > 0 {
		t.Errorf("temporary files left: %v, %v", files, err)
	}
}

// held returns the number of open descriptors, apart from those of the store's connections, some of which open when they are
// first needed.
func held(p *Process) (others, ofStore int) {
	p.T.Helper()
	list, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", p.Cmd.Process.Pid))
	if err != nil {
		p.T.Skipf("descriptors cannot be counted here: %v", err)
	}
	for _, one := range list {
		file, err := os.Readlink(fmt.Sprintf("/proc/%d/fd/%s", p.Cmd.Process.Pid, one.Name()))
		switch {
		case err != nil: // closed meanwhile
		case strings.HasPrefix(filepath.Base(file), "bridged.db"):
			ofStore++
		default:
			others++
		}
	}
	return others, ofStore
}

// abort sends a part of a request and hangs up.
func abort(p *Process, part string) {
	p.T.Helper()
	ctx, cancel := context.WithTimeout(p.T.Context(), TestTimeout)
	defer cancel()
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", p.Address)
	if err != nil {
		p.T.Fatal(err)
	}
	if _, err := conn.Write([]byte(part)); err != nil {
		p.T.Error(err)
	}
	if err := conn.Close(); err != nil {
		p.T.Error(err)
	}
}

// A stop closes session.db first, whose write-ahead log disappears: that is not a data directory that was
// taken away, and the text of deleted messages is overwritten.
func TestStop_FinishesErasing(t *testing.T) {
	t.Parallel()
	p := StartBridge(t, NewNetwork(t))
	p.Becomes(bridge.StateNeedsPair)
	p.Stop()
	if log := p.Log.String(); strings.Contains(log, "deleted text may still be on the disk") {
		t.Errorf("the stop did not finish erasing:\n%s", log)
	}
}
