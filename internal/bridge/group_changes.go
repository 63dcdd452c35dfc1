package bridge

import (
	"bytes"
	"encoding/json"
	"reflect"
)

// GroupChanges says what a group's change was. By made it, and is empty if the network did
// not say who. A setting that did not change is nil.
type GroupChanges struct {
	By            JID             `json:"by"`
	Added         []JID           `json:"added"`
	Removed       []JID           `json:"removed"` // by By
	Left          []JID           `json:"left"`    // by themselves, or it is unknown who removed them
	Promoted      []JID           `json:"promoted"`
	Demoted       []JID           `json:"demoted"`
	NumberChanged []NumberChange  `json:"numberChanged"`
	Subject       *Change[string] `json:"subject,omitempty"`
	Topic         *Change[string] `json:"topic,omitempty"`
	IsAnnounce    *Change[bool]   `json:"isAnnounce,omitempty"`
	IsLocked      *Change[bool]   `json:"isLocked,omitempty"`
	JoinApproval  *Change[bool]   `json:"joinApproval,omitempty"`
	Expiration    *Change[uint32] `json:"disappearingSeconds,omitempty"`
}

// Change holds a value before and after a change.
type Change[T comparable] struct {
	Old T `json:"old"`
	New T `json:"new"`
}

// NumberChange names a member before and after a change of number or LID.
type NumberChange struct {
	From JID `json:"from"`
	To   JID `json:"to"`
}

// IsZero reports whether nothing has changed.
func (g *GroupChanges) IsZero() bool {
	if g == nil {
		return true
	}
	v := reflect.ValueOf(g).Elem()
	for i := range v.NumField() {
		field := v.Field(i)
		if v.Type().Field(i).Name != "By" && (field.Kind() == reflect.Slice && field.Len() > 0 || field.Kind() == reflect.Pointer && !field.IsNil()) {
			return false
		}
	}
	return true
}

// PlainEvent is an Event without its methods, to be embedded: the fields of the outer struct count.
type PlainEvent Event

// MarshalJSON writes the changes of a group where those of a message are.
func (e Event) MarshalJSON() ([]byte, error) {
	if e.GroupChanges == nil {
		return EncodeJSON(PlainEvent(e))
	}
	return EncodeJSON(struct {
		PlainEvent
		Changes *GroupChanges `json:"changes"`
	}{PlainEvent(e), e.GroupChanges})
}

// UnmarshalJSON reads what MarshalJSON has written.
func (e *Event) UnmarshalJSON(data []byte) error {
	read := struct {
		*PlainEvent
		Changes json.RawMessage `json:"changes"`
	}{PlainEvent: (*PlainEvent)(e)}
	if err := json.Unmarshal(data, &read); err != nil || len(read.Changes) == 0 {
		return err
	}
	if bytes.HasPrefix(read.Changes, []byte("{")) {
		return json.Unmarshal(read.Changes, &e.GroupChanges)
	}
	return json.Unmarshal(read.Changes, &e.Changes)
}
