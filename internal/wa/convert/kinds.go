package convert

import (
	"go.mau.fi/whatsmeow/proto/waE2E"
	"google.golang.org/protobuf/proto"

	"bridged/internal/bridge"
)

// shown is what a phone shows of a message: what bridged reads from it.
type shown struct {
	text  string // in the order in which it stands on the screen
	parts bridge.Parts
	poll  *bridge.PollTally
	file  proto.Message // an image, video, audio, document or sticker within the message; nil without one
}

// read returns what an unwrapped message shows; nothing of a kind that is not
// in the table.
func read(msg *waE2E.Message) shown {
	if k := kindNamed(typeName(msg)); k != nil && k.read != nil {
		return k.read(msg)
	}
	return shown{}
}

// kind is how messages of some protobuf fields are read and sent on. All of
// docs/api.md's table of kinds is made of these.
type kind struct {
	fields  []string // of waE2E.Message
	read    func(*waE2E.Message) shown
	forward forwardForm // notForwarded for those that bridge.Message.Forwardable refuses
	content string      // what the text is
	parts   string      // which fields of the API it fills
	file    string      // which file can be downloaded
}

// kinds are all kinds of messages that can be in a chat. What is not here is
// housekeeping, a wrapper, or newer than the library.
var kinds = []kind{
	{
		fields: []string{"conversation", "extendedTextMessage"}, read: readText, forward: asIs,
		content: "the text", parts: "`linkPreview`",
	},
	{
		fields: []string{"imageMessage", "videoMessage", "ptvMessage"}, read: readFile, forward: asIs,
		content: "the caption", parts: "`media`", file: "yes",
	},
	{
		fields: []string{"audioMessage", "stickerMessage"}, read: readFile, forward: asIs,
		content: "empty", parts: "`media`", file: "yes",
	},
	{
		fields: []string{"documentMessage"}, read: readFile, forward: asIs,
		content: "the caption", parts: "`media`", file: "yes",
	},
	{
		fields: []string{"locationMessage"}, read: readPlace, forward: asIs,
		content: "name, address; else latitude,longitude", parts: "`location`",
	},
	{
		fields: []string{"liveLocationMessage"}, read: readLivePlace, forward: asPlace,
		content: "the caption; else latitude,longitude", parts: "`location`",
	},
	{
		fields: []string{"contactMessage", "contactsArrayMessage"}, read: readContacts, forward: asIs,
		content: "the names", parts: "`contacts`",
	},
	{
		fields: []string{"pollCreationMessage", "pollCreationMessageV2", "pollCreationMessageV3", "pollCreationMessageV5", "pollCreationMessageV6"},
		read:   readPoll, forward: asPoll, content: "the question", parts: "`poll`",
	},
	{
		fields: []string{"pollResultSnapshotMessage", "pollResultSnapshotMessageV3"}, read: readPollResult, forward: asWords,
		content: "the question and the result", parts: "`poll`",
	},
	{
		fields: []string{"eventMessage", "eventInviteMessage"}, read: readEvent, forward: notForwarded,
		content: "name, description, place, link", parts: "`event`",
	},
	{
		fields: []string{"groupInviteMessage"}, read: readGroupInvite, forward: asIs,
		content: "the group's name, the caption", parts: "`groupInvite`",
	},
	{
		fields: []string{"newsletterAdminInviteMessage", "newsletterFollowerInviteMessageV2"}, read: readChannelInvite, forward: asIs,
		content: "the channel's name, the caption",
	},

	{
		fields: []string{"templateMessage", "highlyStructuredMessage"}, read: readTemplate, forward: asWords,
		content: "title, body, footer, buttons with their addresses", parts: "`interactive`, `media`, `location`", file: "the header's",
	},
	{
		fields: []string{"buttonsMessage"}, read: readButtons, forward: asWords,
		content: "title, body, footer, buttons", parts: "`interactive`, `media`, `location`", file: "the header's",
	},
	{
		fields: []string{"listMessage"}, read: readList, forward: asWords,
		content: "title, body, footer, sections with their rows", parts: "`interactive`",
	},
	{
		fields: []string{"interactiveMessage"}, read: readInteractive, forward: asWords,
		content: "title, body, footer, buttons with their addresses, cards", parts: "`interactive`, `media`, `location`, `product`, `order`",
		file: "the header's, else the first card's",
	},
	{
		fields: []string{"buttonsResponseMessage", "templateButtonReplyMessage", "listResponseMessage", "interactiveResponseMessage"},
		read:   readAnswer, forward: asWords, content: "the words that were chosen", parts: "`interactive.selected`",
	},
	{
		fields: []string{"productMessage"}, read: readProduct, forward: asIs,
		content: "title, description, price, address, body, footer", parts: "`product`, `media`", file: "the picture",
	},
	{
		fields: []string{"orderMessage"}, read: readOrder, forward: asWords,
		content: "title, message, number of items, total", parts: "`order`",
	},
	{
		fields: []string{"invoiceMessage"}, read: readInvoice, forward: asWords,
		content: "the note", parts: "`media`", file: "the invoice",
	},
	{
		fields: []string{
			"sendPaymentMessage", "requestPaymentMessage", "declinePaymentRequestMessage", "cancelPaymentRequestMessage",
			"paymentInviteMessage", "paymentReminderMessage", "splitPaymentMessage",
		}, read: readPayment, forward: asWords,
		content: "what it is, the amount, the note",
	},
	{
		fields: []string{"richResponseMessage"}, read: readRichResponse, forward: asWords,
		content: "the answer of an AI: texts, tables, code, addresses of pictures",
	},
	{
		fields: []string{"placeholderMessage"}, read: readPlaceholder, forward: notForwarded,
		content: "that a one-time passcode is on the phone",
	},

	{
		fields: []string{
			"scheduledCallCreationMessage", "musicMessage", "stickerPackMessage", "bcallMessage", "statusQuestionAnswerMessage",
			"questionResponseMessage", "statusQuotedMessage",
		}, read: readTitled, forward: asIs,
		content: "title, name or text",
	},
	{
		fields: []string{"call", "chat", "callLogMesssage", "statusStickerInteractionMessage", "splitPaymentUpdateMessage"}, forward: asIs,
		content: "empty",
	},
	{
		fields: []string{"albumMessage"}, read: readAlbum, forward: notForwarded,
		content: "empty", parts: "`album`",
	},
	{
		fields: []string{"commentMessage", "encCommentMessage", "conditionalRevealMessage"}, forward: notForwarded,
		content: "empty",
	},
}

// kindNamed returns the row of a protobuf field; nil where there is none.
func kindNamed(field string) *kind { return byField[field] }

var byField = func() map[string]*kind {
	index := make(map[string]*kind)
	for i := range kinds {
		for _, field := range kinds[i].fields {
			index[field] = &kinds[i]
		}
	}
	return index
}()

// housekeeping are the protobuf fields that are no messages: they belong to the
// protocol, or change other messages.
var housekeeping = map[string]bool{
	"senderKeyDistributionMessage": true, "fastRatchetKeySenderKeyDistributionMessage": true,
	"messageContextInfo": true, "protocolMessage": true, "stickerSyncRmrMessage": true,
	"keepInChatMessage": true, "pinInChatMessage": true, "scheduledCallEditMessage": true,
	"messageHistoryBundle": true, "messageHistoryNotice": true, "encEventResponseMessage": true,
	"pollAddOptionMessage": true, "groupRootKeyShare": true, "rootSecretDistributeMessage": true,
	"statusNotificationMessage": true, "reactionMessage": true, "encReactionMessage": true,
	"pollUpdateMessage": true, "secretEncryptedMessage": true, "requestPhoneNumberMessage": true, "statusLinkPreviewMetadata": true,
}
