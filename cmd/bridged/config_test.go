package main

import (
	"strings"
	"testing"
)

// The exception of the guard is for simulated networks, and for nothing else.
func TestConfig_NoFetchExceptionOnTheRealNetwork(t *testing.T) {
	const token = "a-token-of-the-tests-0123456789"
	_, err := readConfig([]string{"BRIDGE_TOKEN=" + token, "SIMULATED_FETCH_ALLOW=127.0.0.1/32"})
	if err == nil || !strings.Contains(err.Error(), "SIMULATED_FETCH_ALLOW is for simulated networks only") {
		t.Errorf("got %v", err)
	}
	c, err := readConfig([]string{"BRIDGE_TOKEN=" + token})
	if err != nil || len(c.fetchAllow) != 0 {
		t.Errorf("allowed by default: %v, %v", c.fetchAllow, err)
	}
}
