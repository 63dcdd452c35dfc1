package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"bridged/internal/bridge"
	"bridged/internal/client"
	"bridged/internal/doctor"
	"bridged/internal/shell"
)

const statusHelp = `Show the account's state, its last error and what to do about it, versions and counts.

The exit code is 0 if the bridge has answered, whatever the account's state is. Monitoring uses --check, which fails
if reading or sending would not work now; bridged healthcheck only asks whether the program is alive. A token that may
read only some chats gets what it may see: its own permissions.`

func (e *environment) statusCommand() *cobra.Command {
	var check bool
	c := e.shellCommand("status", statusHelp, func(ctx context.Context, s *shell.Shell, _ []string) error {
		if check {
			return printCheck(s.Out, s.JSON, s.API.Call(ctx, http.MethodGet, "/readyz", nil, nil))
		}
		report, err := askStatus(ctx, s.API)
		switch {
		case err != nil:
			return err
		case s.JSON:
			return shell.PrintJSON(s.Out, report)
		}
		return printRows(s.Out, s.Width, report.rows())
	})
	c.Flags().BoolVar(&check, "check", false, "Only check whether reading and sending work now, as GET /readyz does. If not, print the reason and fail with exit code 1")
	return example(c, "bridged status", "bridged status --check")
}

// printCheck prints the result of a check as JSON if that is wanted, and returns its error.
func printCheck(w io.Writer, asJSON bool, failed error) error {
	if !asJSON {
		return failed
	}
	var reason *string
	if failed != nil {
		reason = new(failed.Error())
	}
	return errors.Join(failed, shell.PrintJSON(w, struct {
		OK    bool    `json:"ok"`
		Error *string `json:"error"`
	}{failed == nil, reason}))
}

// statusReport contains the API's answers about a bridge and its account, as they were received. A field is
// null if the token may not see it.
type statusReport struct {
	Address  string          `json:"address"`
	Program  string          `json:"program"` // this program's version
	Token    json.RawMessage `json:"token"`
	Status   json.RawMessage `json:"status"` // null without the permission to read all chats, as are stats and ready
	Remedy   *string         `json:"remedy"` // for the account's lastError
	Stats    json.RawMessage `json:"stats"`
	Ready    *bool           `json:"ready"`
	NotReady *string         `json:"notReady"` // the reason
	Webhooks *webhookCounts  `json:"webhooks"` // null without the permission to manage

	token   client.OwnToken
	account *bridge.Status
	stats   *client.Stats
	hooks   []bridge.Webhook
}

type webhookCounts struct {
	Count   int `json:"count"`
	Pending int `json:"pending"`
	Dead    int `json:"dead"`
}

// askStatus asks a bridge. It leaves out what the token may not see.
func askStatus(ctx context.Context, api *client.Client) (*statusReport, error) {
	r := &statusReport{Address: api.BaseURL(), Program: version}
	err := ask(ctx, api, "/api/token", &r.Token, &r.token)
	if err != nil {
		return nil, err
	}
	if err = ask(ctx, api, "/api/auth/status", &r.Status, &r.account); bridge.CodeOf(err) == bridge.CodeForbidden {
		return r, r.countWebhooks(ctx, api)
	}
	if err != nil {
		return nil, err
	}
	if r.account.LastError != nil {
		r.Remedy = bridge.OrNil(bridge.Remedy(*r.account.LastError))
	}
	now := time.Now()
	midnight := time.Date(now.Year(), now.Month(), now.Day(), 0, 0, 0, 0, time.Local)
	err = ask(ctx, api, "/api/stats?since="+bridge.At(midnight).String(), &r.Stats, &r.stats)
	if err == nil {
		err = api.Call(ctx, http.MethodGet, "/readyz", nil, nil)
	}
	if _, answered := errors.AsType[*client.Error](err); err != nil && !answered {
		return nil, err
	}
	r.Ready = new(err == nil)
	if err != nil {
		r.NotReady = new(err.Error())
	}
	return r, r.countWebhooks(ctx, api)
}

// ask gets an answer of the API, and decodes it into a pointer.
func ask[T any](ctx context.Context, api *client.Client, path string, answer *json.RawMessage, decoded *T) error {
	if err := api.Call(ctx, http.MethodGet, path, nil, answer); err != nil {
		return err
	}
	return json.Unmarshal(*answer, decoded)
}

func (r *statusReport) countWebhooks(ctx context.Context, api *client.Client) (err error) {
	r.hooks, err = api.Webhooks(ctx)
	if _, answered := errors.AsType[*client.Error](err); answered { // no permission, or the store does not answer
		return nil
	}
	r.Webhooks = &webhookCounts{Count: len(r.hooks)}
	for _, hook := range r.hooks {
		r.Webhooks.Pending += hook.Pending
		r.Webhooks.Dead += hook.Dead
	}
	return err
}

// row is a line of a report. It may have a remedy.
type row struct{ label, text, remedy string }

func (r *statusReport) rows() (rows []row) {
	if r.account == nil {
		rows = r.limitedRows()
	} else {
		rows = r.accountRows()
	}
	if r.stats != nil {
		rows = append(rows, r.statsRows()...)
	}
	if r.NotReady != nil && r.account.Status == bridge.StateOpen {
		rows = append(rows, row{"not ready", *r.NotReady, ""})
	}
	if r.Webhooks != nil {
		rows = append(rows, findingRow("webhooks", doctor.Webhooks(r.hooks)))
	}
	return append(rows, r.versionRows()...)
}

// limitedRows returns the rows for a token that may not read the account's status.
func (r *statusReport) limitedRows() []row {
	rows := []row{
		{"account", whose(r.token.Account), ""},
		{"token", r.token.Name + ", " + describe(r.token.Token), ""},
		{"state", "not shown to this token", "a token that may read all chats shows it"},
	}
	if r.token.ExpiresAt != nil {
		rows = append(rows, row{"expires", localMoment(*r.token.ExpiresAt), ""})
	}
	return rows
}

func (r *statusReport) accountRows() []row {
	a := r.account
	rows := []row{{"account", whose(a.User), ""}, {"state", string(a.Status) + " since " + localMoment(a.Since), ""}}
	switch {
	case a.LastError != nil:
		rows = append(rows, row{"last error", *a.LastError, bridge.Remedy(*a.LastError)})
	case a.Status == bridge.StateNeedsPair:
		rows[1].remedy = "link the account: bridged pair"
	}
	if a.PausedUntil != nil {
		rows = append(rows, row{"next login", localMoment(*a.PausedUntil), "wait: logging in before, as bridged reconnect does, prolongs the pause"})
	}
	if p := a.CatchingUp; p != nil {
		rows = append(rows, row{"catching up", fmt.Sprintf("%d of %d queued stanzas received", p.Received, p.Expected), ""})
	}
	if r.stats != nil && r.stats.PhoneSeenAt != nil {
		rows = append(rows, row{"phone", "last seen " + localMoment(*r.stats.PhoneSeenAt), ""})
	}
	var stats client.Stats
	if r.stats != nil {
		stats = *r.stats
	}
	for _, f := range doctor.Notices(*a, stats, time.Local) {
		rows = append(rows, findingRow(f.Check, f))
	}
	return rows
}

func (r *statusReport) statsRows() []row {
	s := r.stats
	messages := fmt.Sprintf("%d in %s; since %s %d received and %d sent", s.Messages, bridge.Counted(s.Chats, "chat"), localMoment(s.Since), s.Received, s.Sent)
	if s.LastReceivedAt != nil {
		messages += "; the last at " + localMoment(*s.LastReceivedAt)
	}
	sending := row{"sending", "on", ""}
	if !s.SendEnabled {
		sending = row{"sending", "off", "to switch it on, set ENABLE_SEND=true and restart the bridge"}
	}
	return []row{
		{"messages", messages, ""},
		sending,
		{"disk", fmt.Sprintf("%.1f MB of messages, %.1f MB of cached files", float64(s.StoreBytes)/1e6, float64(s.MediaBytes)/1e6), ""},
	}
}

func (r *statusReport) versionRows() []row {
	bridged := row{"bridge", r.Address, ""}
	if r.stats == nil {
		return []row{bridged}
	}
	s := r.stats
	bridged.text = fmt.Sprintf("version %s at %s since %s", s.Version, r.Address, localMoment(s.StartedAt))
	if s.Version != r.Program {
		bridged.remedy = "this program is version " + r.Program + ": restart the bridge if it was upgraded"
	}
	versions := "whatsmeow " + s.Library
	if s.GoVersion != "" { // an older bridge does not return it
		versions += ", " + s.GoVersion
	}
	login := doctor.Login(*r.account, time.Local)
	return []row{bridged, {"versions", versions + ", " + login.Message, login.Remedy}}
}

func findingRow(label string, f doctor.Finding) row { return row{label, f.Message, f.Remedy} }

// whose returns the number and the name of an account.
func whose(user *bridge.User) string {
	if user == nil {
		return "none is linked"
	}
	name := "+" + user.Phone
	if user.PushName != "" {
		name += ", " + user.PushName
	}
	return name
}

func localMoment(at bridge.Time) string { return doctor.Moment(at, time.Local) }

// printRows prints rows. On a terminal, which has some columns, it wraps their texts.
func printRows(w io.Writer, columns int, rows []row) error {
	indent := 13
	for _, r := range rows {
		indent = max(indent, len(r.label)+2)
	}
	for _, r := range rows {
		lines := strings.Split(r.text, "\n")
		if r.remedy != "" {
			lines = append(lines, "→ "+r.remedy)
		}
		label := shell.Printable(r.label)
		for _, line := range lines {
			wrapped := []string{shell.Printable(line)}
			if columns > 0 {
				wrapped = shell.Wrap(wrapped[0], max(columns-indent, indent))
			}
			for _, part := range wrapped {
				if _, err := fmt.Fprintf(w, "%-*s%s\n", indent, label, part); err != nil {
					return err
				}
				label = ""
			}
		}
	}
	return nil
}
