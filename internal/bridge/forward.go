package bridge

// unforwardable are the types of stored messages that are never sent on, with
// the reason that callers are given.
var unforwardable = typesOf(map[string][]string{
	"is a calendar event or an answer to one, which bridged does not send": {
		"eventMessage", "encEventResponseMessage", "eventInviteMessage", "eventCoverImage",
	},
	"is encrypted for the chat that it was written in": {
		"secretEncryptedMessage", "encReactionMessage", "encCommentMessage", "conditionalRevealMessage",
	},
	"means nothing without the messages that it belongs to": {
		"reactionMessage", "commentMessage", "pollUpdateMessage", "albumMessage", "placeholderMessage",
	},
	// A message has the type of its wrapper only where there is nothing in it,
	// or wrappers without end.
	"has no content": {
		"deviceSentMessage", "viewOnceMessage", "ephemeralMessage", "documentWithCaptionMessage", "viewOnceMessageV2", "editedMessage",
		"viewOnceMessageV2Extension", "groupMentionedMessage", "botInvokeMessage", "lottieStickerMessage", "statusMentionMessage",
		"pollCreationOptionImageMessage", "associatedChildMessage", "groupStatusMentionMessage", "pollCreationMessageV4", "statusAddYours",
		"groupStatusMessage", "limitSharingMessage", "botTaskMessage", "questionMessage", "groupStatusMessageV2", "botForwardedMessage",
		"questionReplyMessage", "newsletterAdminProfileMessage", "spoilerMessage", "newsletterAdminProfileStatusMessage",
		"botPlatformRegistrationSuccessMessage", "newsletterScheduledMessage", "acp2SettingMessage", "audioStickerMessage",
	},
})

func typesOf(reasons map[string][]string) map[string]string {
	types := make(map[string]string)
	for reason, list := range reasons {
		for _, name := range list {
			types[name] = reason
		}
	}
	return types
}

// Forwardable returns nil for a stored message that can be sent on, else an
// [Error] of [CodeInvalid] with the reason. It is the one list of what is not.
func (m *Message) Forwardable() error {
	switch {
	case m.DeletedAt != nil:
		return Invalid("the message was deleted and cannot be forwarded")
	case m.ViewOnce:
		return Invalid("a view-once message cannot be forwarded")
	case m.MessageType == TypeUndecryptable:
		return Invalid("the message could not be decrypted yet and cannot be forwarded")
	case unforwardable[m.MessageType] != "":
		return Invalid("the message %s and cannot be forwarded", unforwardable[m.MessageType])
	case len(m.Raw) == 0:
		return Invalid("nothing of the message is stored that could be forwarded")
	}
	return nil
}
