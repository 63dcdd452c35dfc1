// Package setup has the pages of the account: its state and linking, calls and events, tokens,
// webhooks, hooks, settings and imports of exported chats.
package setup

import (
	"cmp"
	"net/http"
	"time"

	"bridged/internal/bridge"
	"bridged/internal/client"
	"bridged/internal/console/frame"
	"bridged/internal/console/view"
)

type overviewPage struct {
	facts
	Webhooks webhookSums
	Latest   []bridge.Chat
	Calls    []callRow
}

// webhookSums sums up the webhooks. Used counts those that have delivered something.
type webhookSums struct{ All, Used, Off, Pending, Dead int }

// ShowOverview shows the state of the account, or the page for linking one.
func ShowOverview(req *frame.Request) (err error) {
	if !req.Administers() {
		http.Redirect(req.W, req.Request, view.Root+"/chats", http.StatusSeeOther)
		return nil
	}
	ctx := req.Context()
	if status, err := req.Status(); err != nil {
		return err
	} else if status.Status == bridge.StateNeedsPair || status.Passkey != nil {
		return ShowPair(req)
	}
	page := overviewPage{}
	if page.facts, err = factsOf(req); err != nil {
		return err
	}
	hooks, err := req.API.Webhooks(ctx)
	if err != nil {
		return err
	}
	page.Webhooks = sum(hooks)
	latest, err := req.API.Chats(ctx, bridge.ChatQuery{Limit: 6})
	if err != nil {
		return err
	}
	page.Latest = latest.Items
	if page.Calls, _, err = calls(req, bridge.CallQuery{Limit: 3}); err != nil {
		return err
	}
	return req.Show("overview", "Overview", page)
}

// facts holds the state of the account and its figures since midnight.
type facts struct {
	State   view.State
	Account bridge.Status
	Stats   client.Stats
}

func factsOf(req *frame.Request) (f facts, err error) {
	if f.Account, err = req.Status(); err != nil {
		return f, err
	}
	now := req.Now().In(req.Zone())
	f.State = view.StateOf(f.Account)
	f.Stats, err = req.API.Stats(req.Context(), bridge.At(time.Date(now.Year(), now.Month(), now.Day(), 0, 0, 0, 0, now.Location())))
	return f, err
}

func sum(hooks []bridge.Webhook) (sums webhookSums) {
	for _, hook := range hooks {
		sums.All++
		if hook.LastDeliveredAt != nil {
			sums.Used++
		}
		if !hook.Enabled {
			sums.Off++
		}
		sums.Pending += hook.Pending
		sums.Dead += hook.Dead
	}
	return sums
}

// platform returns a phone's platform as its maker writes it.
func platform(name string) string {
	return cmp.Or(map[string]string{"android": "Android", "iphone": "iPhone", "smba": "Android, WhatsApp Business", "smbi": "iPhone, WhatsApp Business"}[name], name)
}
