package config

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"bridged/internal/bridge"
)

func TestConfig_WebhookFilter(t *testing.T) {
	c, err := Read([]string{
		"BRIDGE_TOKEN=a-token-of-the-tests-0123456789", "DATA_DIR=" + t.TempDir(),
		"WEBHOOK_URL=http://n8n/a, http://n8n/b", "WEBHOOK_SECRET=whsec_MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIz", "WEBHOOK_EVENTS=message.created",
	})
	if err != nil {
		t.Fatal(err)
	}
	want := bridge.EventFilter{Types: []bridge.EventType{bridge.EventMessageCreated}, ChatType: bridge.ChatsAll}
	if len(c.Webhooks) != 2 {
		t.Fatalf("configured %+v", c.Webhooks)
	}
	for _, hook := range c.Webhooks {
		if diff := cmp.Diff(want, hook.EventFilter); diff != "" {
			t.Errorf("%s: -want +got\n%s", hook.URL, diff)
		}
	}
}

// A variable that bridged no longer reads is named at the start, with what replaces it.
func TestConfig_SaysWhatReplacesAVariable(t *testing.T) {
	for name, instead := range retired {
		c, err := Read([]string{"BRIDGE_TOKEN=a-token-of-the-tests-0123456789", "DATA_DIR=" + t.TempDir(), name + "=x"})
		if want := []string{name + " is set, but bridged no longer reads it: " + instead}; err != nil || !slices.Equal(c.Misspelt, want) {
			t.Errorf("%q, %v; want %q", c.Misspelt, err, want)
		}
	}
}
