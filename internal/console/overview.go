package console

import (
	"net/http"
	"strings"
	"time"

	"bridged/internal/bridge"
	"bridged/internal/client"
)

type overviewPage struct {
	facts
	Webhooks webhookSums
	Latest   []bridge.Chat
	Calls    []callRow
}

type webhookSums struct{ All, Off, Pending, Dead int }

func (c *Console) showOverview(v *visit) (err error) {
	if !v.administers() {
		http.Redirect(v.w, v.r, root+"/chats", http.StatusSeeOther)
		return nil
	}
	ctx := v.r.Context()
	if status, err := v.status(); err != nil {
		return err
	} else if status.Status == bridge.StateNeedsPair || status.Passkey != nil {
		return c.showPair(v)
	}
	page := overviewPage{}
	if page.facts, err = v.facts(); err != nil {
		return err
	}
	hooks, err := v.api.Webhooks(ctx)
	if err != nil {
		return err
	}
	page.Webhooks = sum(hooks)
	latest, err := v.api.Chats(ctx, bridge.ChatQuery{Limit: 6})
	if err != nil {
		return err
	}
	page.Latest = latest.Items
	if page.Calls, _, err = v.calls(bridge.CallQuery{Limit: 3}); err != nil {
		return err
	}
	return v.show("overview", "Overview", page)
}

// facts holds the state of the account and its figures since midnight.
type facts struct {
	State   state
	Account bridge.Status
	Stats   client.Stats
}

func (v *visit) facts() (f facts, err error) {
	if f.Account, err = v.status(); err != nil {
		return f, err
	}
	now := v.c.now().In(v.session.zone.Load())
	f.State = describe(f.Account)
	f.Stats, err = v.api.Stats(v.r.Context(), bridge.At(time.Date(now.Year(), now.Month(), now.Day(), 0, 0, 0, 0, now.Location())))
	return f, err
}

func sum(hooks []bridge.Webhook) (sums webhookSums) {
	for _, hook := range hooks {
		sums.All++
		if !hook.Enabled {
			sums.Off++
		}
		sums.Pending += hook.Pending
		sums.Dead += hook.Dead
	}
	return sums
}

// state describes the account's state in words.
type state struct {
	Tone   string // good, busy or bad: its colour
	Word   string
	Text   string // its meaning
	Advice string // the remedy; empty for none
	Pair   bool   // whether to offer pairing
	Dial   bool   // whether to offer connecting again
}

var states = map[bridge.State]state{
	bridge.StateOpen:       {Tone: "good", Word: "Connected", Text: "Messages are stored as they arrive."},
	bridge.StateConnecting: {Tone: "busy", Word: "Connecting", Text: "Connecting to WhatsApp. Anything sent to you in the meantime arrives once the connection is back."},
	bridge.StateNeedsPair:  {Tone: "bad", Word: "Not linked", Text: "No WhatsApp account is linked yet.", Pair: true},
	bridge.StateClosed:     {Tone: "bad", Word: "Disconnected", Text: "There’s no connection to WhatsApp.", Advice: "If it doesn’t come back on its own, reconnect.", Dial: true},
	bridge.StateIdle:       {Tone: "busy", Word: "Not running", Text: "The account isn’t in use at the moment."},
}

// describe puts a status into words, the account's own if it has some.
func describe(status bridge.Status) state {
	s, known := states[status.Status]
	if !known {
		s = state{Tone: "busy", Word: string(status.Status)}
	}
	if status.LastError != nil {
		s.Text = sentence(*status.LastError)
	}
	if status.PausedUntil != nil && status.Status != bridge.StateNeedsPair {
		s.Advice = "Reconnecting earlier only makes the pause longer."
	}
	return s
}

// sentence returns a text with a capital letter at its beginning and a stop at its end.
func sentence(text string) string {
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
