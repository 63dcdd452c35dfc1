package doctor

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"sync/atomic"
	"time"
)

// Way describes how the account reaches the network.
type Way struct {
	// HTTP connects as the account does: through its proxy, and to its network.
	HTTP      *http.Client
	Simulated bool
	Proxied   bool
}

// The hosts that Network connects to.
const (
	SocketHost = "web.whatsapp.com"
	MediaHost  = "mmg.whatsapp.net" // one of several media servers
)

// Network connects to the hosts that the account needs. In a simulated network all hosts have one
// address.
func Network(way Way) Check {
	return Check{Name: "network", Look: func(ctx context.Context) []Finding {
		if way.Simulated {
			return []Finding{reach(ctx, way, SocketHost, "the simulated network")}
		}
		media := make(chan Finding, 1)
		go func() { media <- reach(ctx, way, MediaHost, MediaHost) }()
		return []Finding{reach(ctx, way, SocketHost, SocketHost), <-media}
	}}
}

func reach(ctx context.Context, way Way, host, name string) Finding {
	start := time.Now()
	_, stage, err := head(ctx, way, host)
	through := ""
	if way.Proxied {
		through = " through PROXY_URL"
	}
	switch {
	case err == nil && way.Simulated:
		return warn(name+" answers", "this is not WhatsApp: remove WA_NETWORK_FILE to use the real network")
	case err == nil:
		return ok(fmt.Sprintf("%s answers%s in %d ms", name, through, time.Since(start).Milliseconds()))
	case way.Simulated:
		return fail(fmt.Sprintf("%s does not answer: %v", name, err), "check that it runs, and that WA_NETWORK_FILE is the file that it wrote last")
	case way.Proxied:
		return fail(fmt.Sprintf("cannot reach %s%s: %v", name, through, err), "check the proxy, and that it allows "+host+" on port 443")
	}
	return fail(fmt.Sprintf("cannot reach %s, %s: %v", name, stage.message, err), fmt.Sprintf(stage.remedy, host))
}

// stage is a step of a connection, with the message and the remedy if it fails.
type stage struct{ message, remedy string }

var (
	resolving  = stage{"because its name has no address", "check the DNS of this machine, or of the container, for %s"}
	connecting = stage{"because nothing answers at its address", "let this machine reach %s on port 443 (firewall, route), or set PROXY_URL"}
	securing   = stage{"because TLS fails", "something on the way to %s changes the connection, or the clock or the root certificates of this machine are wrong"}
	answering  = stage{"because it does not answer", "try again; if this repeats, something on the way to %s delays requests"}
)

// head sends a HEAD request and returns the Date of the answer, whatever its status, or the stage that
// failed.
func head(ctx context.Context, way Way, host string) (date string, failed stage, err error) {
	var at atomic.Pointer[stage]
	at.Store(&resolving)
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		ConnectStart:      func(string, string) { at.CompareAndSwap(&resolving, &connecting) },
		TLSHandshakeStart: func() { at.Store(&securing) },
		TLSHandshakeDone: func(_ tls.ConnectionState, err error) {
			if err == nil {
				at.Store(&answering)
			}
		},
	})
	req, err := http.NewRequestWithContext(ctx, http.MethodHead, "https://"+host+"/", nil)
	if err != nil {
		return "", *at.Load(), err
	}
	req.Close = true
	client := *way.HTTP
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	resp, err := client.Do(req)
	if wrapped, ok := errors.AsType[*url.Error](err); ok {
		err = wrapped.Err // the finding names the address
	}
	if err != nil {
		return "", *at.Load(), err
	}
	return resp.Header.Get("Date"), *at.Load(), resp.Body.Close()
}

// With a larger error of this machine's clock the doctor warns or fails. Certificates, codes and the times
// of messages depend on the clock.
const (
	clockWarns = 30 * time.Second
	clockFails = 5 * time.Minute
)

// Clock compares this machine's clock with the network's.
func Clock(way Way) Check {
	return Check{Name: "clock", Look: func(ctx context.Context) []Finding {
		start := time.Now()
		date, _, err := head(ctx, way, SocketHost)
		if err != nil {
			return []Finding{warn("not compared: cannot reach the network", "follow the remedy of the check network")}
		}
		theirs, err := http.ParseTime(date)
		if err != nil {
			return []Finding{warn("not compared: the network sends no time", "compare it with another clock")}
		}
		return []Finding{compare(theirs, start, time.Now())}
	}}
}

// compare compares the clock with the network's, which was read between two moments and has whole
// seconds.
func compare(theirs, before, after time.Time) Finding {
	off := max(before.Sub(theirs.Add(time.Second)), theirs.Sub(after), 0)
	switch message := fmt.Sprintf("off by %v", off.Round(time.Second)); {
	case off >= clockFails:
		return fail(message, "set it, and synchronise it with NTP: timedatectl set-ntp true")
	case off >= clockWarns:
		return warn(message, "synchronise it with NTP: timedatectl set-ntp true")
	}
	return ok("agrees with the network's clock")
}
