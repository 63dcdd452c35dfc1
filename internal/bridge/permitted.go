package bridge

import (
	"slices"
	"strings"
	"time"
)

const (
	// EditTime is how long the apps allow the editing of an own message.
	EditTime = 15 * time.Minute
	// EditTimeTaken is how long the network accepts the edit of a message. Until then an edit
	// without an answer may be repeated.
	EditTimeTaken = 20 * time.Minute
	// DeleteTime is how long the apps allow the deletion of a message for everybody.
	DeleteTime = 60 * time.Hour
)

// editable lists the types of messages that can be edited. The value is true for types with a
// caption.
var editable = map[string]bool{
	"conversation": false, "extendedTextMessage": false,
	"imageMessage": true, "videoMessage": true, "documentMessage": true,
}

// Editable returns nil if a stored message can be edited at a time, and otherwise an [Error] of
// [CodeNotEditable]. limit is [EditTime], or [EditTimeTaken] for a repeated edit.
func (m *Message) Editable(now time.Time, limit time.Duration) error {
	isCaption, hasText := editable[m.MessageType]
	switch {
	case !m.FromMe:
		return notEditable("was written by another person: only own messages can be edited")
	case m.DeletedAt != nil:
		return notEditable("was deleted: send a new one")
	case m.IsExported():
		return notEditable("%s", unknownToNetwork)
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
		return notEditable("was forwarded: only messages that you have written can be edited")
	case now.Sub(m.Timestamp.Time) > limit:
		return notEditable("is older than %.0f minutes: send a new one", EditTime.Minutes())
	}
	return nil
}

// unknownToNetwork is the middle of sentences about messages from exported chats.
const unknownToNetwork = "was imported from an exported chat: the network does not know it"

// Answerable returns nil if others can quote a message or react to it, and otherwise an [Error]
// of [CodeInvalid].
func (m *Message) Answerable(verb string) error {
	switch {
	case m.DeletedAt != nil:
		return Invalid("the message was deleted and cannot be %s", verb)
	case m.IsExported():
		return Invalid("the message %s, and it cannot be %s", unknownToNetwork, verb)
	}
	return nil
}

// Markable returns nil if a stored message can be marked on other devices, such as pinned, and
// otherwise an [Error] of [CodeInvalid].
func (m *Message) Markable(verb string) error {
	switch {
	case m.is(DeliveryPending):
		return Invalid("the message is still being sent: it can be %s once its status is sent", verb)
	case m.is(DeliveryFailed):
		return Invalid("the message was never sent and cannot be %s", verb)
	}
	return m.Answerable(verb)
}

// Votable returns nil if the account can choose these options of a stored poll, and otherwise an
// [Error] of [CodeInvalid].
func (m *Message) Votable(options []string) error {
	if err := m.Markable("voted in"); err != nil {
		return err
	}
	if m.Poll == nil || !strings.HasPrefix(m.MessageType, "pollCreationMessage") {
		return Invalid("the message is not a poll: votes are for polls")
	}
	for i, name := range options {
		if !slices.ContainsFunc(m.Poll.Options, func(o PollOption) bool { return o.Name == name }) {
			return Invalid("options has a name that is not an option of the poll: give the names as poll.options has them")
		}
		if slices.Contains(options[:i], name) {
			return Invalid("options has the same option twice")
		}
	}
	if most := m.Poll.SelectableCount; most > 0 && len(options) > most {
		return Invalid("options has %d options, and this poll allows %d", len(options), most)
	}
	return nil
}

func notEditable(reason string, args ...any) error {
	return Fail(CodeNotEditable, "the message "+reason, args...)
}

// Deletable returns nil if a stored message can be deleted for everybody at a time, by an admin
// of the group or not, and otherwise an [Error] of [CodeNotDeletable].
func (m *Message) Deletable(now time.Time, asAdmin bool) error {
	switch {
	case m.DeletedAt != nil:
		return notDeletable("is deleted already")
	case m.IsExported():
		return notDeletable("%s", unknownToNetwork)
	case !m.FromMe && !m.Chat.IsGroup():
		return notDeletable("was written by another person: in a 1:1 chat only own messages can be deleted for everybody")
	case !m.FromMe && !asAdmin:
		return notDeletable("was written by another person, and the account is not an admin of the group: ask an admin to delete it")
	case m.is(DeliveryPending):
		return notDeletable("is still being sent: delete it once its status is sent")
	case m.is(DeliveryFailed):
		return notDeletable("was never sent")
	case now.Sub(m.Timestamp.Time) > DeleteTime:
		return notDeletable("is older than %.0f hours, the time within which the apps delete for everybody", DeleteTime.Hours())
	}
	return nil
}

// DeletableForMe returns nil if a stored message can be deleted on the account's own devices, and
// otherwise an [Error] of [CodeNotDeletable].
func (m *Message) DeletableForMe() error {
	if m.is(DeliveryPending) {
		return notDeletable("is still being sent: delete it once its status is sent")
	}
	return nil
}

// IsOnDevices reports whether other devices of the account have the message.
func (m *Message) IsOnDevices() bool { return !m.IsExported() && !m.is(DeliveryFailed) }

func notDeletable(reason string, args ...any) error {
	return Fail(CodeNotDeletable, "the message "+reason, args...)
}

// MayResend reports whether the network has not accepted an own message, as far as is known.
func (m *Message) MayResend() bool {
	return m.DeletedAt == nil && (m.is(DeliveryPending) || m.is(DeliveryFailed))
}

func (m *Message) is(status Delivery) bool { return m.Status != nil && *m.Status == status }

// unforwardable lists the types of messages that are never forwarded, by reason.
var unforwardable = map[string][]string{
	"is a calendar event or an answer to one, which bridged does not send": {
		"eventMessage", "encEventResponseMessage", "eventInviteMessage", "eventCoverImage",
	},
	"is encrypted for the chat that it was written in": {
		"secretEncryptedMessage", "encReactionMessage", "encCommentMessage", "conditionalRevealMessage",
	},
	"means nothing without the messages that it belongs to": {
		"reactionMessage", "commentMessage", "pollUpdateMessage", "albumMessage", "placeholderMessage",
	},
	// A message only has its wrapper's type if the wrapper is empty.
	"has no content": {
		"deviceSentMessage", "viewOnceMessage", "ephemeralMessage", "documentWithCaptionMessage", "viewOnceMessageV2", "editedMessage",
		"viewOnceMessageV2Extension", "groupMentionedMessage", "botInvokeMessage", "lottieStickerMessage", "statusMentionMessage",
		"pollCreationOptionImageMessage", "associatedChildMessage", "groupStatusMentionMessage", "pollCreationMessageV4", "statusAddYours",
		"groupStatusMessage", "limitSharingMessage", "botTaskMessage", "questionMessage", "groupStatusMessageV2", "botForwardedMessage",
		"questionReplyMessage", "newsletterAdminProfileMessage", "spoilerMessage", "newsletterAdminProfileStatusMessage",
		"botPlatformRegistrationSuccessMessage", "newsletterScheduledMessage", "acp2SettingMessage", "audioStickerMessage",
	},
}

// Forwardable returns nil if a stored message can be forwarded, and otherwise an [Error] of
// [CodeInvalid].
func (m *Message) Forwardable() error {
	switch {
	case m.DeletedAt != nil:
		return Invalid("the message was deleted and cannot be forwarded")
	case m.ViewOnce:
		return Invalid("a view-once message cannot be forwarded")
	case m.MessageType == TypeUndecryptable:
		return Invalid("the message could not be decrypted yet and cannot be forwarded")
	}
	for reason, types := range unforwardable {
		if slices.Contains(types, m.MessageType) {
			return Invalid("the message %s and cannot be forwarded", reason)
		}
	}
	if len(m.Raw) == 0 {
		return Invalid("the message has no stored content that could be forwarded")
	}
	return nil
}

// Joinable returns an error if the account cannot join a group with the message.
func (m Message) Joinable(now time.Time) error {
	switch invite := m.GroupInvite; {
	case invite == nil || invite.JID == "" || invite.Code == "" || m.FromMe:
		return Invalid("the message is not an invitation to a group that the account could join")
	case invite.ExpiresAt != nil && !now.Before(invite.ExpiresAt.Time):
		return Fail(CodeInviteInvalid, "the invitation has expired: ask for a new one")
	}
	return nil
}
