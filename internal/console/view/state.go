package view

import (
	"cmp"
	"strings"

	"bridged/internal/bridge"
)

// State describes the account's state.
type State struct {
	Tone    string // good, busy or bad: its colour
	Word    string
	Text    string // its meaning
	Advice  string // the remedy; empty if none
	Details string // the API's sentence about the last error, for managers of the account; may be empty
	Pair    bool   // whether to offer pairing
	Dial    bool   // whether to offer connecting again
}

var states = map[bridge.State]State{
	bridge.StateOpen:       {Tone: "good", Word: "Connected", Text: "New messages are stored as they arrive."},
	bridge.StateConnecting: {Tone: "busy", Word: "Connecting", Text: "Connecting to WhatsApp…"},
	bridge.StateNeedsPair:  {Tone: "bad", Word: "Not linked", Text: "No account is linked.", Pair: true},
	bridge.StateClosed:     {Tone: "bad", Word: "Disconnected", Text: "Not connected to WhatsApp.", Advice: "If it doesn’t come back on its own, reconnect.", Dial: true},
	bridge.StateIdle:       {Tone: "busy", Word: "Not running", Text: "This account isn’t running at the moment."},
}

// unreached is shown while bridged tries to connect.
const unreached = "Can’t reach WhatsApp. Retrying…"

// lastErrors has the sentences for people about the account's last error, by the beginnings of the API's sentences, with
// … for any text.
var lastErrors = []struct{ like, text string }{
	// The connection.
	{"WhatsApp cannot be reached", unreached},
	{"the network cannot be reached", unreached},
	{"the network does not answer", unreached},
	{"the network did not answer", unreached},
	{"the connection was lost", unreached},
	{"a frame from the network was damaged", unreached},
	{"the network ended the connection", "WhatsApp closed the connection. Retrying…"},
	{"the network wants the account to log in again", "WhatsApp asks for a new login. Retrying…"},
	{"the network announced stored messages", "WhatsApp holds some messages back. Retrying…"},
	{"the network refused the login", "WhatsApp refused the login. Retrying in an hour…"},
	{"the network has refused several logins", "WhatsApp refused several logins. Retrying later…"},
	{"the network refuses logins for now", "There were too many logins. Retrying later…"},
	{"the network refuses this client's version", "WhatsApp no longer accepts this version. Update bridged."},
	{"the network will refuse this client's version", "WhatsApp will soon stop accepting this version. Update bridged."},

	// The account.
	{"the account is banned", "WhatsApp has banned this account for now."},
	{"the network does not let this account start new chats", "WhatsApp doesn’t let this account start new chats for now. You can still answer people who wrote to you."},
	{"the phone was last seen", "Your phone has been offline for a long time. Open WhatsApp on it soon, or it unlinks this bridge."},
	{"another client took over this session", "Another program is using this link. Stop it, then reconnect."},
	{"another process runs this account", "This account is running on another machine."},
	{"bridged cannot ask NATS", "Can’t check whether this account runs on another machine. Retrying…"},
	{"this data directory is a copy", "These files are a copy, and the account last ran from others. It stays off, so that it isn’t unlinked."},
	{"this data directory is old", "These files are old, and the account has since run from others. It stays off, so that it isn’t unlinked."},
	{"the session belongs to another account", "The link and the stored messages belong to different accounts."},

	// Linking.
	{"unlinked from the phone", "Your phone has unlinked this bridge. Link it again. Your messages are still here."},
	{"the account is locked", "This account is locked, or has moved to another phone. Open WhatsApp there, then link it again."},
	{"the account was logged out", "WhatsApp has logged this account out. Open WhatsApp on your phone, then link it again."},
	{"the passkey was not accepted", "The passkey wasn’t accepted. Start linking again."},
	{"the QR code was scanned by a phone without linked devices", "This phone’s WhatsApp is too old for linking. Update it, then try again."},
	{"the network refused the pairing code", "That code wasn’t right. Get a new one, and enter it on your phone."},
	{"the pairing failed", "Linking didn’t work. Get a new code, then try again."},
	{"pairing is paused", "Linking is paused. Get a code to go on."},
	{"the network sends no code to a desktop", "WhatsApp gives this bridge no code as a desktop app, so it’s linked as a browser. Your phone then sends fewer old messages."},
	{"the network sends this bridge no code", "WhatsApp gives this bridge no code. Wait some minutes. Retrying…"},
	{"this bridge is configured (PHONE_NUMBER)", "This bridge is for another account. Scan the code with the phone of that account."},
	{"the stored messages belong to another account", "The stored messages belong to another account. Link that one."},

	// The storage.
	{"a message could not be stored", "A message couldn’t be stored. WhatsApp sends it again."},
	{"not connected because the stored messages cannot be read", "The stored messages can’t be read, so the bridge stays disconnected."},
	{"the session could not be wiped", "The link couldn’t be deleted. The disk may be full."},
	{"…is damaged", "A file of the bridge is damaged. Everything else still works."},
	{"…has a value that cannot be read", "A file of the bridge may be damaged."},
	{"…was removed or replaced while bridged was running", "A file of the bridge was removed, so nothing more is stored."},
}

// lastErrorOf returns the sentence for people about the account's last error, or an empty text.
func lastErrorOf(sentence string) string {
	for _, e := range lastErrors {
		if bridge.BeginsLike(sentence, e.like) {
			return e.text
		}
	}
	return ""
}

// StateOf describes a status. The account's last error wins over the general text.
func StateOf(status bridge.Status) State {
	s, known := states[status.Status]
	if !known {
		s = State{Tone: "busy", Word: string(status.Status)}
	}
	if status.LastError != nil {
		s.Text = cmp.Or(lastErrorOf(*status.LastError), s.Text)
		s.Details = Sentence(*status.LastError)
	}
	if status.PausedUntil != nil && status.Status != bridge.StateNeedsPair {
		s.Advice = "Reconnecting earlier only makes the pause longer."
	}
	return s
}

// Word is a short text about a status. Tone is its colour: good, warn, bad, or none.
type Word struct{ Text, Tone string }

// ScheduledWords describe the statuses of scheduled messages.
var ScheduledWords = map[bridge.ScheduledStatus]Word{
	bridge.ScheduledWaiting: {"Scheduled", ""}, bridge.ScheduledSending: {"Sending", ""}, bridge.ScheduledMissed: {"Missed", "warn"},
	bridge.ScheduledHeld: {"On hold", "warn"}, bridge.ScheduledFailed: {"Not sent", "bad"}, bridge.ScheduledCancelled: {"Cancelled", ""},
}

// CallWords describe the states of calls.
var CallWords = map[bridge.CallState]Word{
	bridge.CallRinging: {"Ringing", "good"}, bridge.CallMissed: {"Missed", "warn"}, bridge.CallRejected: {"Declined", ""},
	bridge.CallEnded: {"Answered elsewhere", ""}, bridge.CallAnsweredElsewhere: {"Answered elsewhere", ""},
}

// ImportWords describe the states of imports.
var ImportWords = map[bridge.ImportState]Word{
	bridge.ImportRunning: {"Importing", "warn"}, bridge.ImportDone: {"Imported", "good"}, bridge.ImportFailed: {"Failed", "bad"}, bridge.ImportCancelled: {"Cancelled", "warn"},
	bridge.ImportUndoing: {"Undoing", "warn"}, bridge.ImportUndone: {"Undone", ""},
}

// Sentence returns a text with a capital letter and a full stop.
func Sentence(text string) string {
	if text == "" {
		return ""
	}
	if c := text[0]; 'a' <= c && c <= 'z' {
		text = strings.ToUpper(text[:1]) + text[1:]
	}
	if !strings.ContainsAny(text[len(text)-1:], ".!?") {
		text += "."
	}
	return text
}

// ScopeWords describes the scopes.
var ScopeWords = map[bridge.Scope]struct{ Label, About string }{
	bridge.ScopeRead:   {"Read", "chats, messages, files, calls and events"},
	bridge.ScopeSend:   {"Send", "messages and reactions, and change groups"},
	bridge.ScopeManage: {"Manage", "the account, webhooks, hooks and tokens"},
}
