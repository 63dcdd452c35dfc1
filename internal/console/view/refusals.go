package view

import (
	"cmp"
	"regexp"
	"strings"
	"time"

	"bridged/internal/bridge"
)

// refusal is the console's sentence for a sentence of the API.
type refusal struct {
	like  string // the beginning of the API's sentences, with … for any text; empty for all sentences of the code
	text  string
	waits string // when a message that waits to be sent is sent; empty if it does not wait
}

const (
	tryAgain = " Try again in a moment."
	sentOnce = "It’s being sent again, and won’t arrive twice."
	// AskNumber refuses a text that is not a phone number.
	AskNumber = "Enter the number with its country code, such as +1 555 123 4567."
)

// refusals has the sentences for people of all codes of the API's errors. The last one of a code is for all its sentences.
var refusals = map[bridge.Code][]refusal{
	// About the caller and its permissions.
	bridge.CodeUnauthorized: {{"", "You’ve been logged out. Log in again.", "This will be sent once you log in again."}},
	bridge.CodeSendDisabled: {{"", "Sending is turned off on this bridge.", ""}},
	bridge.CodeForbidden: {
		{"this token is limited to some chats, and this route", "You have access to some chats only, and this is about the whole account.", ""},
		{"this token is limited to some chats: name", "Your token is limited to some chats. Choose among them.", ""},
		{"this token expires at", "Your own token ends earlier. Choose an earlier day.", ""},
		{"another token began this import", "Someone else started this import. Only they can cancel or undo it.", ""},
		{"", "Your token doesn’t allow this.", ""},
	},
	bridge.CodeHistoryDisabled:  {{"", "Loading older messages is turned off on this bridge.", ""}},
	bridge.CodeSignatureInvalid: {{"", "The signature doesn’t fit this hook’s secret.", ""}},
	bridge.CodeMethodNotAllowed: {{"", "That can’t be done here.", ""}},

	// About the request.
	bridge.CodeInvalid: {
		{"text must have", "A message can have up to 65,536 characters.", ""},
		{"caption must have", "A caption can have up to 65,536 characters.", ""},
		{"emoji must be", "Choose one emoji.", ""},
		{"latitude", "Latitude goes from −90 to 90, and longitude from −180 to 180.", ""},
		{"longitude", "Latitude goes from −90 to 90, and longitude from −180 to 180.", ""},
		{"name is required: the poll", "Enter the question.", ""},
		{"values must hold", "A poll has 2 to 12 options. Enter each on its own line.", ""},
		{"values must not hold the same", "Two options of the poll are the same.", ""},
		{"contacts[…].displayName", "Enter the contact’s name.", ""},
		{"options has…this poll allows", "That’s more answers than this poll allows.", ""},
		{"the message is not a poll", "You can’t vote in this message.", ""},
		{"the key of that poll", "You can only vote in this poll on your phone.", ""},
		{"the key of that message", "You can’t react to this message here. React on your phone.", ""},
		{"viewOnce is for", "Only photos, videos and voice notes can be viewed once.", ""},
		{"gif is for", "Only videos can be sent as GIFs.", ""},
		{"the apps show no GIFs in albums", "Albums can’t have GIFs. Send this one alone.", ""},
		{"the file is empty", "This file is empty.", ""},
		{"the picture is empty", "This picture is empty.", ""},
		{"the message was deleted in the meantime", "This message was deleted, so it isn’t sent again.", ""},
		{"the message was deleted", "This message was deleted.", ""},
		{"the message was imported", "This message comes from an exported chat. WhatsApp doesn’t know it, so you can only read it.", ""},
		{"the message is still being sent", "This message is still being sent." + tryAgain, ""},
		{"the message was never sent", "This message was never sent.", ""},
		{"a view-once message cannot be forwarded", "View-once messages can’t be forwarded.", ""},
		{"the message could not be decrypted", "This message hasn’t arrived completely yet.", ""},
		{"the export had this message without its file", "This file wasn’t in the export. Import the chat again with its media, then forward it.", ""},
		{"the message…cannot be forwarded", "This message can’t be forwarded.", ""},
		{"the message has no stored content", "This message can’t be forwarded.", ""},
		{"the message has no audio", "There’s no speech to transcribe in this message.", ""},
		{"view-once messages are not transcribed", "View-once messages aren’t transcribed.", ""},
		{"the audio is longer than all the minutes", "This is too long to be transcribed.", ""},
		{"sendAt must be in the future", "Choose a time in the future.", ""},
		{"sendAt must be at most a year", "Choose a time within the next year.", ""},
		{"sendAt must be before this token", "Your access ends before this time. Choose an earlier one.", ""},
		{"a scheduled message of the type", "This message has no text to change. Cancel it, then schedule another.", ""},
		{"…messages are scheduled already", "Too many messages are scheduled already. Send or cancel some of them first.", ""},
		{"the files of", "The files of scheduled messages take too much space. Send or cancel some of them first.", ""},
		{"…can schedule", "Too many messages are scheduled already. Send or cancel some of them first.", ""},
		{"the account is a member of this group", "Leave the group first. Then you can delete its chat.", ""},
		{"participants must not contain the account", "You can’t remove yourself. Leave the group instead.", ""},
		{"participants must hold", "Choose at least one person.", ""},
		{"topic must have", "A description can have up to 2,048 characters.", ""},
		{"about must have", "Your about text can have up to 139 characters.", ""},
		{"name must have 1 to…in one line", "That name is empty or too long.", ""},
		{"name must have 1 to", "A group name has 1 to 100 characters.", ""},
		{"…must have at most…characters, in one line", "That name is too long, or has more than one line.", ""},
		{"…must be a name of visible characters", "A name needs at least one visible character.", ""},
		{"link must be", "That isn’t the invite link of a group.", ""},
		{"phone…the country code", AskNumber, ""},
		{"phone differs from PHONE_NUMBER", "This bridge is for another number.", ""},
		{"the phone number", AskNumber, ""},
		{"the network refuses a pairing code", "WhatsApp gives no code for this number. Check that it’s the account’s own.", ""},
		{"the network has not asked for a passkey", "WhatsApp hasn’t asked for a passkey. Start linking first.", ""},
		{"the network did not accept the passkey", "WhatsApp didn’t accept this passkey. Use the account’s own.", ""},
		{"there is no code to confirm", "There’s no code to confirm yet.", ""},
		{"chat is required", "Choose a chat, or enter a name for a new one.", ""},
		{"chat must name a person", "Messages can’t be imported into this chat.", ""},
		{"chat is a phone number", "There’s no chat with this number yet. Choose a chat, or enter a name.", ""},
		{"there is a chat of this name already", "There’s a chat of this name already. Choose it from the list, or enter another name.", ""},
		{"…must be a zone like", "That time zone isn’t known. Enter one such as Europe/Berlin or +02:00.", ""},
		{"the archive has no text of an exported chat", "This ZIP has no exported chat in it. Upload the file as the phone has made it.", ""},
		{"no line begins with a date", "This isn’t an exported chat. Upload the file as the phone has made it.", ""},
		{"the text is not UTF-8", "This text was changed after the export. Upload the file as the phone has made it.", ""},
		{"the archive is refused…is encrypted", "This ZIP is encrypted. Upload it without a password.", ""},
		{"the archive is refused", "This ZIP can’t be read safely. Export the chat again.", ""},
		{"the archive is damaged", "This ZIP is damaged. Export the chat again.", ""},
		{"the export has no messages", "This export has no messages in it.", ""},
		{"the export has messages by more", "Too many people write in this export.", ""},
		{"the body did not arrive in time", "The connection was too slow." + tryAgain, ""},
		{"the body is damaged or incomplete", "The connection was lost." + tryAgain, ""},
		{"the body is incomplete", "The connection was lost." + tryAgain, ""},
		{"q must not be blank", "Enter a word to search for.", ""},
		{"", "That didn’t work. Check what you entered, then try again.", ""},
	},
	bridge.CodeNotFound: {
		{"there is no message", "This message isn’t available anymore.", ""},
		{"the message was deleted", "This message was deleted, and its file with it.", ""},
		{"the message has no", "This message has no file.", ""},
		{"there is no chat", "This chat isn’t available.", ""},
		{"there is no group", "This group isn’t available.", ""},
		{"there is no label", "This label isn’t available anymore.", ""},
		{"there is no scheduled message", "This message isn’t scheduled anymore.", ""},
		{"", "This isn’t available anymore.", ""},
	},
	bridge.CodePreconditionFailed:  {{"", "This file has changed. Reload the page.", ""}},
	bridge.CodeInvalidRange:        {{"", "This part of the file doesn’t exist.", ""}},
	bridge.CodeIdempotencyMismatch: {{"", "This was sent before with other content. Reload the page, then try again.", ""}},
	bridge.CodeRequestInProgress:   {{"", "This is being done already.", "It’s being sent in another tab."}},
	bridge.CodeTemplateFailed:      {{"", "The template can’t make a message of this.", ""}},

	// People and groups.
	bridge.CodeNotOnNetwork: {
		{"none of the participants", "None of these people is on WhatsApp. Check their numbers.", ""},
		{"", "This number isn’t on WhatsApp. Check it and its country code.", ""},
	},
	bridge.CodeNotInGroup: {
		{"the account may not write", "You can’t send messages to this group. Either you’re no longer in it, or only admins can.", ""},
		{"", "You’re no longer in this group.", ""},
	},
	bridge.CodeNotAChat: {
		{"…is a person on another messenger", "This person is on another messenger. Answer them on your phone.", ""},
		{"leave a community", "Leave this community on your phone. You leave all of its groups with it.", ""},
		{"a community is not a chat", "Communities have no messages of their own. Open one of its groups.", ""},
		{"", "Messages can’t be sent here.", ""},
	},
	bridge.CodeNotAdmin: {
		{"only an admin may pin", "Only admins can pin messages in this group.", ""},
		{"", "Only admins of the group can do this.", ""},
	},
	bridge.CodeAlreadyInGroup: {{"", "You’re in this group already.", ""}},
	bridge.CodeInviteInvalid: {
		{"the invitation", "This invitation is no longer valid. Ask for a new one.", ""},
		{"the group's admins have revoked", "This invite link was reset. Ask an admin for the new one.", ""},
		{"", "This invite link doesn’t work. Check it, or ask for a new one.", ""},
	},
	bridge.CodeJoinRefused:  {{"", "You can’t join this group by its link. Ask an admin to add you.", ""}},
	bridge.CodeGroupFull:    {{"", "This group is full.", ""}},
	bridge.CodeGroupChanged: {{"", "Another admin changed the group at the same time. Look at it, then try again.", ""}},
	bridge.CodeNoPicture:    {{"", "There’s no picture.", ""}},
	bridge.CodePictureHidden: {
		{"", "This picture isn’t shown to you.", ""},
	},
	bridge.CodeNoLabels: {{"", "Labels need the WhatsApp Business app on your phone.", ""}},

	// Messages.
	bridge.CodeNotEditable: {
		{"the message was written by another", "You can only edit your own messages.", ""},
		{"the message was deleted", "This message was deleted.", ""},
		{"the message is still being sent", "This message is still being sent." + tryAgain, ""},
		{"the message was never sent", "This message was never sent. Send a new one.", ""},
		{"the message was forwarded", "Forwarded messages can’t be edited.", ""},
		{"the message is older than", "Messages can only be edited for 15 minutes. Send a new one.", ""},
		{"the message is a file without a caption", "This file has no caption. Send the text as a new message.", ""},
		{"", "This message can’t be edited.", ""},
	},
	bridge.CodeNotDeletable: {
		{"the message is deleted already", "This message is already deleted.", ""},
		{"the message was written by another person, and", "Only admins can delete messages of others in this group.", ""},
		{"the message was written by another", "You can only delete your own messages for everyone.", ""},
		{"the message is still being sent", "This message is still being sent." + tryAgain, ""},
		{"the message is older than", "It’s too late to delete this message for everyone. You can delete it for yourself.", ""},
		{"", "This message can’t be deleted for everyone.", ""},
	},
	bridge.CodeRateLimited:        {{"", "WhatsApp asks you to slow down.", ""}},
	bridge.CodeReachoutRestricted: {{"", "WhatsApp doesn’t let this account start new chats for now. You can still answer people who wrote to you.", ""}},
	bridge.CodeNewChatsLimited:    {{"", "That’s as many new chats as this bridge starts in a day.", ""}},
	bridge.CodeNewChatsCapped:     {{"", "That’s as many new chats as WhatsApp allows for now. You can still answer people who wrote to you.", ""}},
	bridge.CodeLookUpsLimited:     {{"", "That’s as many new numbers as this bridge looks up for now.", ""}},
	bridge.CodeSendRefused: {
		{"the recipient does not accept", "This person doesn’t accept your messages.", ""},
		{"the network does not accept this picture", "WhatsApp doesn’t accept this picture. Choose another one.", ""},
		{"the network does not accept this", "WhatsApp doesn’t accept this text. Change or shorten it.", ""},
		{"the network's media server refused", "WhatsApp doesn’t accept this file.", ""},
		{"", "WhatsApp didn’t accept this.", ""},
	},
	bridge.CodeSendTimeout: {{"", "WhatsApp hasn’t confirmed this yet. It may still have worked.", sentOnce}},
	bridge.CodeNotConnected: {
		{"the account is not paired", "No account is linked.", "This will be sent once you link one."},
		{"the service is stopping", "The bridge is restarting.", "This will be sent once it’s back."},
		{"bridged is shutting down", "The bridge is restarting.", "This will be sent once it’s back."},
		{"the phone has not sent the keys", "Your phone hasn’t shared its settings yet. Open WhatsApp on it, then try again.", ""},
		{"the members of the group are not known", "The members of this group aren’t known yet." + tryAgain, ""},
		{"another process runs this account", "This account is running on another machine.", "This will be sent once it runs here."},
		{"", "Can’t reach WhatsApp.", "This will be sent once the connection is back."},
	},
	bridge.CodeNotRinging: {{"", "This call has already ended.", ""}},
	bridge.CodeNoMoreHistory: {
		{"", "Your phone has no older messages of this chat.", ""},
	},
	bridge.CodeOnlyOnPhone: {{"", "You can read older messages of this chat on your phone only.", ""}},

	// Scheduled messages.
	bridge.CodeAlreadySending: {{"", "This message is being sent right now.", ""}},
	bridge.CodeMissed: {
		{"its sending began", "It may have been sent, but WhatsApp never confirmed it. Look in the chat before you send it again.", ""},
		{"", "The bridge wasn’t connected at this time. Send it now, choose another time, or cancel it.", ""},
	},
	bridge.CodeRestored: {{"", "It comes from a backup, so it may have been sent already. Send it now, choose another time, or cancel it.", ""}},

	// Files.
	bridge.CodeFetchFailed: {{"", "The file couldn’t be loaded.", ""}},
	bridge.CodeUnsupportedMedia: {
		{"the file is an animated", "WhatsApp shows moving pictures as videos only. Send this one as a document.", ""},
		{"the file plays for", "This file is too long to be converted. Send a shorter one, or send it as a document.", ""},
		{"the video has…too many to convert", "This video is too large to be converted. Make it smaller, or send it as a document.", ""},
		{"the picture has…too many to convert", "This picture is too large. Make it smaller, or send it as a document.", ""},
		{"the file cannot be read as a picture", "This isn’t a picture. Choose a JPEG, PNG, WebP, GIF or BMP.", ""},
		{"the picture is too large, or of a kind", "This picture is too large, or can’t be shown.", ""},
		{"the bridge finds no ffmpeg to convert the video", "This video can’t be converted here. Send an MP4, or send it as a document.", ""},
		{"", "WhatsApp can’t show this file. Send it as a document instead.", ""},
	},
	bridge.CodePayloadTooLarge: {
		{"these messages have more", "This chat has too many files for one ZIP. Export it without them.", ""},
		{"the imports of this token", "Your imports have reached their limit. What was imported stays.", ""},
		{"the import took longer", "The import took too long. What was imported stays.", ""},
		{"", "This file is too large.", ""},
	},
	bridge.CodeMediaGone: {
		{"the imported file is no longer on the disk", "This file is gone. Import the chat again to get it back.", ""},
		{"", "This file is gone. Neither WhatsApp nor your phone has it anymore.", ""},
	},
	bridge.CodeMediaTooLarge:    {{"", "This file is too large to be downloaded here. Open it on your phone.", ""}},
	bridge.CodeMediaInvalid:     {{"", "This file is damaged and can’t be opened.", ""}},
	bridge.CodeMediaUnavailable: {{"", "WhatsApp can’t deliver this file right now. Try again later.", ""}},

	// Linking, and exported chats.
	bridge.CodeAlreadyPaired: {{"", "An account is linked already. Unlink it first.", ""}},
	bridge.CodeOtherAccount:  {{"", "This bridge is for another account. Scan the code with the phone of that account.", ""}},
	bridge.CodeNoSession:     {{"", "No account is linked. Link one first.", ""}},
	bridge.CodeImportEnded: {
		{"the import was cancelled", "The import was cancelled. What was imported stays.", ""},
		{"", "This import has already ended.", ""},
	},
	bridge.CodeAmbiguousDates:    {{"", "The dates of this export can be read in more than one way. Choose the one that’s true.", ""}},
	bridge.CodeAmbiguousTimezone: {{"", "The phone’s time zone isn’t known. Enter it below, such as Europe/Berlin.", ""}},
	bridge.CodeUnknownDates: {
		{"most dates of the export make no sense", "The dates don’t fit this order. Choose another one, or let it be found out.", ""},
		{"", "The dates of this export can’t be read.", ""},
	},

	// The bridge.
	bridge.CodeInternal: {{"", "Something went wrong in the bridge. Its log has the details.", ""}},
	bridge.CodeStorageUnavailable: {
		{"imports leave", "The disk is nearly full. Free some space, then import the chat again to store the rest.", ""},
		{"", "The bridge can’t store anything right now. Its disk may be full.", "This will be sent once that’s fixed."},
	},
	bridge.CodeTooManyConnections: {{"", "The bridge is busy." + tryAgain, "This will be sent as soon as it can."}},
}

// unknownRefusal is for errors that are not in the table: from a proxy, or from a newer bridge.
var unknownRefusal = refusal{text: "That didn’t work."}

// refusalOf returns the entry for an error with a code.
func refusalOf(code bridge.Code, sentence string) refusal {
	for _, r := range refusals[code] {
		if !bridge.BeginsLike(sentence, r.like) {
			continue
		}
		// The sentence about a lost connection ends with the account's last error.
		if _, why, found := strings.Cut(sentence, "): "); found && code == bridge.CodeNotConnected {
			r.text = cmp.Or(lastErrorOf(why), r.text)
		}
		return r
	}
	return unknownRefusal
}

// Refusal returns the sentence for people about an error of the API.
func Refusal(err *bridge.Error) string {
	if found := brokenOff.FindStringSubmatch(err.Msg); found != nil {
		rest := *err
		rest.Msg = found[3]
		sent := found[1] + " of " + found[2] + " photos and videos were sent."
		if found[1] == "1" {
			sent = "1 of " + found[2] + " photos and videos was sent."
		}
		again := "Trying again"
		if found[4] == "send it now" { // it was scheduled
			again = "“Send now”"
		}
		return Refusal(&rest) + " " + sent + " " + again + " sends the rest."
	}
	text := refusalOf(err.Code, about(err.Msg)).text
	if len(err.Changed) > 0 {
		text += " The other changes were saved."
	}
	if err.RetryAfter > 0 && isLimit(err.Code) {
		text += " Try again in " + inAbout(err.RetryAfter) + "."
	}
	return text
}

// Waits returns the sentence about a message that waits because of an error; empty if it does not wait.
func Waits(err *bridge.Error) string { return refusalOf(err.Code, about(err.Msg)).waits }

// IsSpecific reports whether there is a sentence for an error that is not for its code alone.
func IsSpecific(err *bridge.Error) bool { return refusalOf(err.Code, about(err.Msg)).like != "" }

// Ended returns the sentence about an import that ended with an error, which has no code.
func Ended(sentence string) string {
	for _, code := range []bridge.Code{bridge.CodePayloadTooLarge, bridge.CodeStorageUnavailable, bridge.CodeImportEnded, bridge.CodeInvalid, bridge.CodeUnknownDates} {
		if r := refusalOf(code, sentence); r.like != "" {
			return r.text
		}
	}
	if strings.HasPrefix(sentence, "the bridge was stopped") {
		return "The bridge was restarted before the import was done."
	}
	return "The import stopped before it was done."
}

// brokenOff matches the sentence about an album that was sent in part.
var brokenOff = regexp.MustCompile(`^the network accepted (\d+) of the (\d+) pictures and videos of the album, and then: (.*); (a call with|send it now)`)

// part matches the beginning of the API's sentences about one part of a request: the place of a file in an album, or
// the earlier changes.
var part = regexp.MustCompile(`^(?:items\[\d+\]: |changed .* was not: )`)

// about returns the API's sentence without the part of the request that it is about.
func about(sentence string) string { return part.ReplaceAllString(sentence, "") }

// isLimit reports whether an error passes with time alone.
func isLimit(code bridge.Code) bool {
	switch code {
	case bridge.CodeRateLimited, bridge.CodeReachoutRestricted, bridge.CodeNewChatsLimited, bridge.CodeNewChatsCapped, bridge.CodeLookUpsLimited:
		return true
	}
	return false
}

// inAbout returns a time to wait in words, rounded up.
func inAbout(d time.Duration) string {
	for _, unit := range []struct {
		one  time.Duration
		name string
	}{{24 * time.Hour, "day"}, {time.Hour, "hour"}, {time.Minute, "minute"}} {
		if n := int((d + unit.one - 1) / unit.one); n > 1 || n == 1 && d >= unit.one {
			return bridge.Counted(n, unit.name)
		}
	}
	return "a minute"
}

// memberRefusals says why a group was not changed for a person, after the person's name.
var memberRefusals = map[bridge.ParticipantStatus]string{
	bridge.ParticipantAlready: "is in the group already.", bridge.ParticipantNotMember: "isn’t in the group.", bridge.ParticipantNoRequest: "no longer asks to join.",
	bridge.ParticipantInvite: "lets only some people add them to groups. Send them the invite link.", bridge.ParticipantRecentlyLeft: "left the group a short while ago. Send them the invite link.",
	bridge.ParticipantFull: "can’t be added, because the group is full.", bridge.ParticipantNotOnNetwork: "isn’t on WhatsApp. Check the number and its country code.",
	bridge.ParticipantRefused: "can’t be changed. WhatsApp didn’t allow it.",
}

// MemberRefusal returns the sentence about a person for whom a group was not changed.
func MemberRefusal(name string, status bridge.ParticipantStatus) string {
	text, known := memberRefusals[status]
	if !known {
		text = memberRefusals[bridge.ParticipantRefused]
	}
	return name + " " + text
}
