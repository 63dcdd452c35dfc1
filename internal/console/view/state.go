package view

import (
	"strings"

	"bridged/internal/bridge"
)

// State describes the account's state.
type State struct {
	Tone   string // good, busy or bad: its colour
	Word   string
	Text   string // its meaning
	Advice string // the remedy; empty for none
	Pair   bool   // whether to offer pairing
	Dial   bool   // whether to offer connecting again
}

var states = map[bridge.State]State{
	bridge.StateOpen:       {Tone: "good", Word: "Connected", Text: "Messages are stored as they arrive."},
	bridge.StateConnecting: {Tone: "busy", Word: "Connecting", Text: "Connecting to WhatsApp. Anything sent to you in the meantime arrives once the connection is back."},
	bridge.StateNeedsPair:  {Tone: "bad", Word: "Not linked", Text: "No WhatsApp account is linked yet.", Pair: true},
	bridge.StateClosed:     {Tone: "bad", Word: "Disconnected", Text: "There’s no connection to WhatsApp.", Advice: "If it doesn’t come back on its own, reconnect.", Dial: true},
	bridge.StateIdle:       {Tone: "busy", Word: "Not running", Text: "The account isn’t in use at the moment."},
}

// StateOf describes a status. The account's last error wins over the general text.
func StateOf(status bridge.Status) State {
	s, known := states[status.Status]
	if !known {
		s = State{Tone: "busy", Word: string(status.Status)}
	}
	if status.LastError != nil {
		s.Text = Sentence(*status.LastError)
	}
	if status.PausedUntil != nil && status.Status != bridge.StateNeedsPair {
		s.Advice = "Reconnecting earlier only makes the pause longer."
	}
	return s
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
	bridge.ScopeSend:   {"Send", "messages, reactions, changes to groups"},
	bridge.ScopeManage: {"Manage", "the account, webhooks, hooks and tokens"},
}
