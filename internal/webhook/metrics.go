package webhook

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"os"
	"syscall"

	"github.com/prometheus/client_golang/prometheus"

	"bridged/internal/urlguard"
)

// kind is the result of an attempt, a label of the metric.
type kind string

const (
	succeeded      kind = "success"
	refusedBy4xx   kind = "4xx"
	failedBy5xx    kind = "5xx"
	otherStatus    kind = "other_status" // such as a redirect, which is not followed
	timedOut       kind = "timeout"
	unknownHost    kind = "dns"
	notConnected   kind = "connection"
	badCertificate kind = "tls"
	blocked        kind = "blocked"   // by the check of addresses
	cancelled      kind = "cancelled" // by a change of the webhook, or the end of the program
	unencodable    kind = "internal"
)

// newAttempts returns the counter of attempts, with all its labels at 0, so that their first increase
// is visible.
func newAttempts() *prometheus.CounterVec {
	counter := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "bridged_webhook_attempts_total", Help: "Attempts to post events and tests to webhooks, by outcome.",
	}, []string{"outcome"})
	for _, k := range []kind{succeeded, refusedBy4xx, failedBy5xx, otherStatus, timedOut, unknownHost, notConnected, badCertificate, blocked, cancelled, unencodable} {
		counter.WithLabelValues(string(k))
	}
	return counter
}

// Metrics returns the collectors of /metrics.
func (d *Dispatcher) Metrics() []prometheus.Collector { return []prometheus.Collector{d.attempts} }

// kindOf returns the result that a status stands for.
func kindOf(status int) kind {
	switch {
	case status >= 200 && status <= 299:
		return succeeded
	case status >= 400 && status <= 499:
		return refusedBy4xx
	case status >= 500 && status <= 599:
		return failedBy5xx
	}
	return otherStatus
}

// explain describes an error without the addresses from look-ups.
func explain(err error) (kind, string) {
	var refused *urlguard.Error
	var name *net.DNSError
	var certificate *tls.CertificateVerificationError
	switch {
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, os.ErrDeadlineExceeded):
		return timedOut, fmt.Sprintf("the receiver did not answer within %.0f s", attemptTimeout.Seconds())
	case errors.Is(err, context.Canceled):
		return cancelled, "the attempt was cancelled"
	case errors.Is(err, syscall.ECONNREFUSED):
		return notConnected, "the receiver refused the connection"
	case errors.As(err, &name) && name.IsNotFound:
		return unknownHost, "the receiver's host does not exist"
	case errors.As(err, &name):
		return unknownHost, "the receiver's host could not be looked up"
	case errors.As(err, &certificate):
		return badCertificate, "the receiver's certificate is not valid"
	case errors.As(err, &refused):
		return blocked, refused.Reason
	}
	return notConnected, "the connection to the receiver broke"
}
