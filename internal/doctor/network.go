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
	HTTP *http.Client
	// Whether the network is a simulated one, or reached through a proxy.
	Simulated, Proxied bool
}

// SocketHost is the host of the network's socket, MediaHost one of its media servers.
const (
	SocketHost = "web.whatsapp.com"
	MediaHost  = "mmg.whatsapp.net"
)

// Network connects to the hosts that the account needs: name, TCP, TLS. Those of a
// simulated network have one address.
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
	began := time.Now()
	_, stage, err := head(ctx, way, host)
	through := ""
	if way.Proxied {
		through = " through PROXY_URL"
	}
	switch {
	case err == nil && way.Simulated:
		return warn(name+" answers", "this is not WhatsApp: remove WA_NETWORK_FILE to use the real network")
	case err == nil:
		return ok(fmt.Sprintf("%s answers%s in %d ms", name, through, time.Since(began).Milliseconds()))
	case way.Simulated:
		return fail(fmt.Sprintf("%s does not answer: %v", name, err), "is it running, and is WA_NETWORK_FILE the one that it wrote last?")
	case way.Proxied:
		return fail(fmt.Sprintf("%s is not reached%s: %v", name, through, err), "check the proxy, and that it lets "+host+" on port 443 pass")
	}
	return fail(fmt.Sprintf("%s is not reached, %s: %v", name, stage.message, err), fmt.Sprintf(stage.remedy, host))
}

// stage is how far a connection came.
type stage struct{ message, remedy string }

var (
	resolving  = stage{"its name has no address", "check the DNS of this machine, or of the container, for %s"}
	connecting = stage{"nothing answers at its address", "let this machine reach %s on port 443 (firewall, route), or set PROXY_URL"}
	securing   = stage{"TLS fails", "something on the way to %s changes the connection, or this machine's clock or root certificates are wrong"}
	answering  = stage{"it does not answer", "try again; if it stays, something on the way to %s holds requests back"}
)

// head requests a page's head, and returns how far that came. Any answer counts.
func head(ctx context.Context, way Way, host string) (date string, reached stage, err error) {
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
	if failed, ok := errors.AsType[*url.Error](err); ok {
		err = failed.Err // the finding names the address
	}
	if err != nil {
		return "", *at.Load(), err
	}
	return resp.Header.Get("Date"), *at.Load(), resp.Body.Close()
}

// How far this machine's clock may be off: certificates, codes and the times of messages
// depend on it.
const (
	clockWarns = 30 * time.Second
	clockFails = 5 * time.Minute
)

// Clock compares this machine's clock with the network's.
func Clock(way Way) Check {
	return Check{Name: "clock", Look: func(ctx context.Context) []Finding {
		began := time.Now()
		date, _, err := head(ctx, way, SocketHost)
		if err != nil {
			return []Finding{warn("not compared: the network is not reached", "see network")}
		}
		theirs, err := http.ParseTime(date)
		if err != nil {
			return []Finding{warn("not compared: the network sends no time", "compare it with a clock that is right")}
		}
		return []Finding{compare(theirs, began, time.Now())}
	}}
}

// compare judges the clock by a time of the network in whole seconds, sent between two
// moments.
func compare(theirs, before, after time.Time) Finding {
	off := max(before.Sub(theirs.Add(time.Second)), theirs.Sub(after), 0)
	switch message := fmt.Sprintf("off by %v", off.Round(time.Second)); {
	case off >= clockFails:
		return fail(message, "set it, and keep it right with NTP: timedatectl set-ntp true")
	case off >= clockWarns:
		return warn(message, "keep it right with NTP: timedatectl set-ntp true")
	}
	return ok("agrees with the network's")
}
