package bridge

import "time"

const (
	// EditTime is how long the apps let an own message be edited.
	EditTime = 15 * time.Minute
	// EditTimeTaken is how long the network takes the edit of a message: what the
	// first try has left unknown may be repeated until then.
	EditTimeTaken = 20 * time.Minute
	// DeleteTime is how long the apps let a message be deleted for everybody.
	DeleteTime = 60 * time.Hour
)

// editable are the types of messages that can be edited, by whether what can be
// edited is a caption.
var editable = map[string]bool{
	"conversation": false, "extendedTextMessage": false,
	"imageMessage": true, "videoMessage": true, "documentMessage": true,
}

// Editable returns nil for a stored message whose text can be edited at a moment,
// else an [Error] of [CodeNotEditable] with the reason. limit is [EditTime], or
// [EditTimeTaken] for an edit that is repeated.
func (m *Message) Editable(now time.Time, limit time.Duration) error {
	isCaption, hasText := editable[m.MessageType]
	switch {
	case !m.FromMe:
		return notEditable("was written by somebody else: only own messages can be edited")
	case m.DeletedAt != nil:
		return notEditable("was deleted: send a new one")
	case m.is(DeliveryPending):
		return notEditable("is still being sent: edit it once its status is sent")
	case m.is(DeliveryFailed):
		return notEditable("was never sent: send a new one")
	case m.MessageType == TypeUndecryptable:
		return notEditable("could not be decrypted yet: edit it once it is shown")
	case m.ViewOnce:
		return notEditable("can be viewed only once: such messages cannot be edited")
	case !hasText:
		return notEditable("is a %s: only texts, and captions of images, videos and documents, can be edited", m.MessageType)
	case isCaption && m.Content == "":
		return notEditable("is a file without a caption: send the text as a new message")
	case m.IsForwarded:
		return notEditable("was forwarded: only what one has written can be edited")
	case now.Sub(m.Timestamp.Time) > limit:
		return notEditable("is older than %.0f minutes: send a new one", EditTime.Minutes())
	}
	return nil
}

func notEditable(reason string, args ...any) error {
	return Fail(CodeNotEditable, "the message "+reason, args...)
}

// Deletable returns nil for a stored message that can be deleted for everybody at
// a moment, else an [Error] of [CodeNotDeletable] with the reason. asAdmin tells
// that the account administers the group.
func (m *Message) Deletable(now time.Time, asAdmin bool) error {
	switch {
	case m.DeletedAt != nil:
		return notDeletable("is deleted already")
	case !m.FromMe && !m.Chat.IsGroup():
		return notDeletable("was written by somebody else: in a chat between two only own messages can be deleted for everybody")
	case !m.FromMe && !asAdmin:
		return notDeletable("was written by somebody else, and the account is not an admin of the group: ask an admin to delete it")
	case m.is(DeliveryPending):
		return notDeletable("is still being sent: delete it once its status is sent")
	case m.is(DeliveryFailed):
		return notDeletable("was never sent: nobody has it")
	case now.Sub(m.Timestamp.Time) > DeleteTime:
		return notDeletable("is older than %.0f hours, the time within which the apps delete for everybody", DeleteTime.Hours())
	}
	return nil
}

func notDeletable(reason string, args ...any) error {
	return Fail(CodeNotDeletable, "the message "+reason, args...)
}

// is reports whether an own message has a status.
func (m *Message) is(status Delivery) bool { return m.Status != nil && *m.Status == status }
