package bridge

import "fmt"

// EventPayload is what the readers of the log outside of the bridge are given
// of an event: the body of a webhook, and of a message on NATS.
type EventPayload struct {
	Type      EventType `json:"type"`
	Timestamp Time      `json:"timestamp"`
	Data      any       `json:"data"`
}

// Payload returns what readers are given of the event.
func (e Event) Payload() EventPayload { return EventPayload{e.Type, e.At, e} }

// ResetPayload returns what readers are given in place of events up to a number
// that are lost to them.
func ResetPayload(after int64, at Time) EventPayload {
	return EventPayload{EventReset, at, struct {
		After int64 `json:"after"`
	}{after}}
}

// EventName returns a name of the event with this number that no other event of
// the account ever has: the number alone comes again when a backup is restored.
func EventName(id int64, at Time) string { return fmt.Sprintf("evt_%d_%x", id, at.UnixMilli()) }
