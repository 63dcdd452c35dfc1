package config

import (
	"strings"
	"testing"
)

// The exception of the guard is for simulated networks, and for nothing else.
func TestConfig_NoFetchExceptionOnTheRealNetwork(t *testing.T) {
	const token = "a-token-of-the-tests-0123456789"
	_, err := Read([]string{"BRIDGE_TOKEN=" + token, "SIMULATED_FETCH_ALLOW=127.0.0.1/32"})
	if err == nil || !strings.Contains(err.Error(), "SIMULATED_FETCH_ALLOW is for simulated networks only") {
		t.Errorf("got %v", err)
	}
	c, err := Read([]string{"BRIDGE_TOKEN=" + token})
	if err != nil || len(c.FetchAllow) != 0 {
		t.Errorf("allowed by default: %v, %v", c.FetchAllow, err)
	}
}

// Connections leave descriptors for everything else.
func TestConfig_ConnectionsFitTheDescriptors(t *testing.T) {
	environ := []string{"BRIDGE_TOKEN=a-token-of-the-tests-0123456789"}
	c, err := Read(environ)
	if err != nil || c.MaxConnections < 16 || c.MaxConnections > 4096 || c.MaxConnections > fileLimit()-min(256, fileLimit()/2) {
		t.Errorf("%d connections of %d files, %v", c.MaxConnections, fileLimit(), err)
	}
	for _, wrong := range []string{"-1", "15", "2147483647"} {
		if _, err := Read(append(environ, "MAX_CONNECTIONS="+wrong)); err == nil || !strings.Contains(err.Error(), "MAX_CONNECTIONS must be 16 to ") {
			t.Errorf("%s: %v", wrong, err)
		}
	}
	if c, err := Read(append(environ, "MAX_CONNECTIONS=16")); err != nil || c.MaxConnections != 16 {
		t.Errorf("%d, %v", c.MaxConnections, err)
	}
}
