package harness

import (
	"strings"
	"testing"

	"bridged/internal/simnet"
)

// NewOwner returns an account's phone on a new network.
func NewOwner(t *testing.T, options simnet.PhoneOptions, network ...simnet.Options) (*simnet.Network, *simnet.Phone) {
	t.Helper()
	n := NewNetwork(t, network...)
	options.Number, options.Name = "491510000001", "Olga"
	return n, NewPhone(t, n, options)
}

// WithoutSecret returns a QR code without its secret: its ref and the keys.
func WithoutSecret(code string) string {
	parts := strings.Split(code, ",")
	parts[3] = ""
	return strings.Join(parts, ",")
}
