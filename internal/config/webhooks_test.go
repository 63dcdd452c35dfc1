package config

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"bridged/internal/bridge"
)

func TestConfig_WebhookFilter(t *testing.T) {
	no := false
	c, err := Read([]string{
		"BRIDGE_TOKEN=a-token-of-the-tests-0123456789", "DATA_DIR=" + t.TempDir(),
		"WEBHOOK_URL=http://n8n/a, http://n8n/b", "WEBHOOK_SECRET=whsec_MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIz", "WEBHOOK_EVENTS=message.created",
		"WEBHOOK_CHATS= 15550100301@s.whatsapp.net ,120363025246125486@g.us,15550100301@s.whatsapp.net", "WEBHOOK_EXCLUDE_CHATS=81234567890123@lid",
		"WEBHOOK_CHAT_TYPE=Individual", "WEBHOOK_FROM_ME=no",
	})
	if err != nil {
		t.Fatal(err)
	}
	want := bridge.EventFilter{
		Types: []bridge.EventType{bridge.EventMessageCreated}, Chats: []bridge.JID{"15550100301@s.whatsapp.net", "120363025246125486@g.us"},
		ExcludeChats: []bridge.JID{"81234567890123@lid"}, ChatType: bridge.ChatsIndividual, FromMe: &no,
	}
	if len(c.Webhooks) != 2 {
		t.Fatalf("configured %+v", c.Webhooks)
	}
	for _, hook := range c.Webhooks {
		if diff := cmp.Diff(want, hook.EventFilter); diff != "" {
			t.Errorf("%s: -want +got\n%s", hook.URL, diff)
		}
	}
}
