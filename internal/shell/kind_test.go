package shell

import (
	"testing"

	"bridged/internal/bridge"
)

func TestKindWord_IsAWordForEachType(t *testing.T) {
	t.Parallel()
	for kind, want := range map[string]string{
		"audioMessage": "audio", "imageMessage": "image", "ptvMessage": "video note", "documentMessage": "document", "pollCreationMessageV3": "poll",
		"liveLocationMessage": "live location", "contactsArrayMessage": "contacts", "groupInviteMessage": "group invite", "conversation": "text",
		"eventMessage": "event", bridge.TypeUndecryptable: "undecryptable", "unknown": "unknown", "somethingNewMessageV12": "something new",
	} {
		if got := kindWord(kind); got != want {
			t.Errorf("%s: %q, want %q", kind, got, want)
		}
	}
	if got, want := textOf(" ", "audioMessage"), "[audio]"; got != want {
		t.Errorf("a chat's last message is %s, want %s", got, want)
	}
}

// An event has its message as it is now, so two changes that are read late are one line.
func TestTail_PrintsEachStatusOnce(t *testing.T) {
	t.Parallel()
	event := func(id string, status bridge.Delivery) bridge.Event {
		return bridge.Event{Type: bridge.EventMessageStatus, ChatJID: "1@s.whatsapp.net", Message: &bridge.Message{ID: id, Status: &status}}
	}
	seen := make(statuses)
	for i, step := range []struct {
		event bridge.Event
		isNew bool
	}{
		{event("A", bridge.DeliveryDelivered), true},
		{event("A", bridge.DeliveryDelivered), false},
		{event("B", bridge.DeliveryDelivered), true},
		{event("A", bridge.DeliveryRead), true},
		{event("A", bridge.DeliveryRead), false},
		{bridge.Event{Type: bridge.EventMessageUpdated, Message: &bridge.Message{ID: "A"}}, true},
	} {
		if got := seen.isNew(step.event); got != step.isNew {
			t.Errorf("event %d is new: %v", i, got)
		}
	}
}
