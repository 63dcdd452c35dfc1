package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What is wrong with the variables of NATS is told with its remedy.
func TestConfig_NATSIsCheckedAtTheStart(t *testing.T) {
	empty := filepath.Join(t.TempDir(), "empty")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for setting, want := range map[string]string{
		"NATS_URL=localhost":             "NATS_URL must be addresses such as nats://host:4222",
		"NATS_URL=http://localhost:4222": "NATS_URL must be addresses such as nats://host:4222",
		"NATS_URL=nats://a:4222,,":       "NATS_URL must be addresses",
		"NATS_CREDS_FILE=/nowhere":       "NATS_CREDS_FILE cannot be read",
		"NATS_CREDS_FILE=" + empty:       "NATS_CREDS_FILE must hold a user's token and seed",
		"NATS_CA_FILE=/nowhere":          "NATS_CA_FILE cannot be read",
		"NATS_CA_FILE=" + empty:          "NATS_CA_FILE must hold certificates in PEM",
		"NATS_PREFIX=a.b":                "NATS_PREFIX must have 1 to 32 letters",
		"NATS_REPLICAS=6":                "NATS_REPLICAS must be 1 to 5",
		"NATS_OWNER_TTL=1s":              "NATS_OWNER_TTL must be 2s to 1h",
		"NATS_OWNER_TTL=2h":              "NATS_OWNER_TTL must be 2s to 1h",
	} {
		_, err := Read([]string{"BRIDGE_TOKEN=a-token-of-the-tests-0123456789", setting})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", setting, err)
		}
	}
}

// Without NATS_URL there is no fleet; with it, it is as configured.
func TestConfig_FleetIsOffWithoutAURL(t *testing.T) {
	environ := []string{"BRIDGE_TOKEN=a-token-of-the-tests-0123456789"}
	c, err := Read(environ)
	if err != nil {
		t.Fatal(err)
	}
	if c.NATSURL != "" {
		t.Errorf("a fleet without an address: %q", c.NATSURL)
	}
	c, err = Read(append(environ, "NATS_URL=nats://a:4222, tls://b:4222", "NATS_REPLICAS=3"))
	if err != nil {
		t.Fatal(err)
	}
	if c.NATSURL != "nats://a:4222,tls://b:4222" || c.NATSPrefix != "bridged" || c.NATSReplicas != 3 {
		t.Errorf("%+v", c)
	}
}
