package convert

import (
	"strings"

	"go.mau.fi/whatsmeow/proto/waE2E"
	"google.golang.org/protobuf/proto"

	"bridged/internal/bridge"
)

// shown is the content of a message, as a phone shows it.
type shown struct {
	text  string // in the order on the screen
	parts bridge.Parts
	poll  *bridge.PollTally
	file  proto.Message // an image, video, audio, document or sticker within the message; nil without one
}

func read(msg *waE2E.Message) shown {
	if k := kindOf[typeName(msg)]; k != nil && k.read != nil {
		return k.read(msg)
	}
	return shown{}
}

// kind says how messages of some protobuf fields are read and sent on. They make
// the table in the OpenAPI document.
type kind struct {
	fields  string // of waE2E.Message, by spaces
	read    func(*waE2E.Message) shown
	forward forwardForm // notForwarded for kinds that bridge.Message.Forwardable refuses
	content string      // describes the text
	parts   string      // which fields of the API it fills
	file    string      // which file can be downloaded
}

// kinds has every kind of message that can be in a chat. Other fields are housekeeping,
// wrappers, or newer than the library.
var kinds = []kind{
	{"conversation extendedTextMessage", readText, asIs, "the text", "`linkPreview`", ""},
	{"imageMessage videoMessage ptvMessage", readFile, asIs, "the caption", "`media`", "yes"},
	{"audioMessage stickerMessage", readFile, asIs, "empty", "`media`", "yes"},
	{"documentMessage", readFile, asIs, "the caption", "`media`", "yes"},
	{"locationMessage", readPlace, asIs, "name, address; otherwise latitude,longitude", "`location`", ""},
	{"liveLocationMessage", readLivePlace, asPlace, "the caption; otherwise latitude,longitude", "`location`", ""},
	{"contactMessage contactsArrayMessage", readContacts, asIs, "the names", "`contacts`", ""},
	{
		"pollCreationMessage pollCreationMessageV2 pollCreationMessageV3 pollCreationMessageV5 pollCreationMessageV6", readPoll, asPoll,
		"the question", "`poll`", "",
	},
	{"pollResultSnapshotMessage pollResultSnapshotMessageV3", readPollResult, asWords, "the question and the result", "`poll`", ""},
	{"eventMessage eventInviteMessage", readEvent, notForwarded, "name, description, location, link", "`event`", ""},
	{"groupInviteMessage", readGroupInvite, asIs, "the group's name, the caption", "`groupInvite`", ""},
	{"newsletterAdminInviteMessage newsletterFollowerInviteMessageV2", readTitled, asIs, "the channel's name, the caption", "", ""},
	{
		"templateMessage highlyStructuredMessage", readTemplate, asWords,
		"title, body, footer, buttons with their addresses", "`interactive`, `media`, `location`", "the header's",
	},
	{"buttonsMessage", readButtons, asWords, "title, body, footer, buttons", "`interactive`, `media`, `location`", "the header's"},
	{"listMessage", readList, asWords, "title, body, footer, sections with their rows", "`interactive`", ""},
	{
		"interactiveMessage", readInteractive, asWords,
		"title, body, footer, buttons with their addresses, cards", "`interactive`, `media`, `location`, `product`, `order`", "the header's, otherwise the first card's",
	},
	{
		"buttonsResponseMessage templateButtonReplyMessage listResponseMessage interactiveResponseMessage", readAnswer, asWords,
		"the chosen option", "`interactive.selected`", "",
	},
	{"productMessage", readProduct, asIs, "title, description, price, address, body, footer", "`product`, `media`", "the picture"},
	{"orderMessage", readOrder, asWords, "title, message, number of items, total", "`order`", ""},
	{"invoiceMessage", readInvoice, asWords, "the note", "`media`", "the invoice"},
	{
		"sendPaymentMessage requestPaymentMessage declinePaymentRequestMessage cancelPaymentRequestMessage" +
			" paymentInviteMessage paymentReminderMessage splitPaymentMessage", readPayment, asWords,
		"the kind of payment, the amount, the note", "", "",
	},
	{"richResponseMessage", readRichResponse, asWords, "the answer of an AI: texts, tables, code, addresses of pictures", "", ""},
	{"placeholderMessage", readPlaceholder, notForwarded, "that a one-time passcode is on the phone", "", ""},
	{
		"scheduledCallCreationMessage musicMessage stickerPackMessage bcallMessage" +
			" statusQuestionAnswerMessage questionResponseMessage statusQuotedMessage", readTitled, asIs,
		"title, name or text", "", "",
	},
	{"call chat callLogMesssage statusStickerInteractionMessage splitPaymentUpdateMessage", nil, asIs, "empty", "", ""},
	{"albumMessage", readAlbum, notForwarded, "empty", "`album`", ""},
	{"commentMessage encCommentMessage conditionalRevealMessage", nil, notForwarded, "empty", "", ""},
}

var kindOf = func() map[string]*kind {
	index := make(map[string]*kind)
	for i := range kinds {
		for field := range strings.FieldsSeq(kinds[i].fields) {
			index[field] = &kinds[i]
		}
	}
	return index
}()

// housekeeping lists the protobuf fields that are not messages: they belong to the protocol, or change
// other messages.
var housekeeping = map[string]bool{
	"senderKeyDistributionMessage": true, "fastRatchetKeySenderKeyDistributionMessage": true,
	"messageContextInfo": true, "protocolMessage": true, "stickerSyncRmrMessage": true,
	"keepInChatMessage": true, "pinInChatMessage": true, "scheduledCallEditMessage": true,
	"messageHistoryBundle": true, "messageHistoryNotice": true, "encEventResponseMessage": true,
	"pollAddOptionMessage": true, "groupRootKeyShare": true, "rootSecretDistributeMessage": true,
	"statusNotificationMessage": true, "reactionMessage": true, "encReactionMessage": true,
	"pollUpdateMessage": true, "secretEncryptedMessage": true, "requestPhoneNumberMessage": true, "statusLinkPreviewMetadata": true,
}
