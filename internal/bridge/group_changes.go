package bridge

import (
	"bytes"
	"encoding/json"
	"reflect"
)

// GroupChanges describes a change of a group. By is the person who made it; it is empty if the
// network did not say. A setting that did not change is nil.
type GroupChanges struct {
	At            Time                   `json:"at,omitzero"` // zero in events that an earlier version logged
	By            JID                    `json:"by"`
	Added         []JID                  `json:"added"`
	Removed       []JID                  `json:"removed"` // by By
	Left          []JID                  `json:"left"`    // by themselves, or it is unknown who removed them
	Promoted      []JID                  `json:"promoted"`
	Demoted       []JID                  `json:"demoted"`
	NumberChanged []NumberChange         `json:"numberChanged"`
	Subject       *Change[string]        `json:"subject,omitempty"`
	Topic         *Change[string]        `json:"topic,omitempty"`
	IsAnnounce    *Change[bool]          `json:"isAnnounce,omitempty"`
	IsLocked      *Change[bool]          `json:"isLocked,omitempty"`
	JoinApproval  *Change[bool]          `json:"joinApproval,omitempty"`
	Expiration    *Change[uint32]        `json:"disappearingSeconds,omitempty"`
	MemberAddMode *Change[MemberAddMode] `json:"memberAddMode,omitempty"`
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
		if field.Kind() == reflect.Slice && field.Len() > 0 || field.Kind() == reflect.Pointer && !field.IsNil() {
			return false
		}
	}
	return true
}

// EventChanges says what has changed in the Message or the Group of an event. As JSON it is the
// one that is set.
type EventChanges struct {
	// Fields lists the changed fields of Message if the type is message.updated. It is empty in
	// events that an earlier version logged.
	Fields []MessageField `json:"fields"`
	// Group says what changed in Group; nil if that is unknown.
	Group *GroupChanges `json:"group"`
}

// IsZero reports whether nothing is known of the changes.
func (c EventChanges) IsZero() bool { return len(c.Fields) == 0 && c.Group == nil }

// MarshalJSON returns the changes of the group, or the list of the message's fields.
func (c EventChanges) MarshalJSON() ([]byte, error) {
	if c.Group != nil {
		return EncodeJSON(c.Group)
	}
	return EncodeJSON(c.Fields)
}

// UnmarshalJSON reads the result of MarshalJSON.
func (c *EventChanges) UnmarshalJSON(data []byte) error {
	if bytes.HasPrefix(data, []byte("{")) {
		return json.Unmarshal(data, &c.Group)
	}
	return json.Unmarshal(data, &c.Fields)
}
