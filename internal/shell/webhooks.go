package shell

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"strconv"
	"strings"

	"bridged/internal/bridge"
	"bridged/internal/client"
)

const listWebhooks = "bridged webhooks list"

// Webhooks prints the webhooks.
func (s *Shell) Webhooks(ctx context.Context) error {
	hooks, err := s.API.Webhooks(ctx)
	if err != nil {
		return err
	}
	columns := []column{{title: "ID"}, {title: "URL", most: 48, flexible: true}, {title: "EVENTS", most: 32, flexible: true}, {title: "FORMAT"}, {title: "ENABLED"}, {title: "PENDING"}, {title: "DEAD"}, {title: "DELIVERED"}}
	return list(s, all(hooks), 0, "There are no webhooks. Create one with: bridged webhooks create URL", columns, func(w bridge.Webhook) []string {
		return []string{
			strconv.FormatInt(w.ID, 10), w.URL, cmp.Or(bridge.Join(w.Types, ","), "all"), string(w.Format), yesOrNo(w.Enabled),
			strconv.Itoa(w.Pending), strconv.Itoa(w.Dead), cmp.Or(s.when(w.LastDeliveredAt), "-"),
		}
	})
}

// Webhook prints one webhook.
func (s *Shell) Webhook(ctx context.Context, id string) error {
	number, err := parseID("<id>", id)
	if err != nil {
		return err
	}
	w, err := s.API.Webhook(ctx, number)
	switch {
	case err != nil:
		return listHint(err, listWebhooks)
	case s.JSON:
		return s.printJSON(w)
	}
	return s.properties(s.webhookProperties(w))
}

func (s *Shell) webhookProperties(w bridge.Webhook) [][2]string {
	messages := ""
	if w.FromMe != nil {
		messages = fromOthers
		if *w.FromMe {
			messages = fromMine
		}
	}
	options := ""
	if encoded, err := json.Marshal(w.Options); err == nil && string(encoded) != "{}" {
		options = string(encoded)
	}
	return [][2]string{
		{"Id", strconv.FormatInt(w.ID, 10)},
		{"URL", w.URL},
		{"Events", cmp.Or(bridge.Join(w.Types, ", "), "all")},
		{"Chats", bridge.Join(w.Chats, ", ")},
		{"Not chats", bridge.Join(w.ExcludeChats, ", ")},
		{"Chat type", string(w.ChatType)},
		{"Messages", messages},
		{"Format", string(w.Format)},
		{"Options", options},
		{"Enabled", yesOrNo(w.Enabled)},
		{"Private", yesOrNo(w.AllowPrivate)},
		{"Source", string(w.Source)},
		{"Pending", strconv.Itoa(w.Pending)},
		{"Dead", strconv.Itoa(w.Dead)},
		{"Delivered", s.when(w.LastDeliveredAt)},
		{"Failed", s.when(w.LastFailedAt)},
		{"Last error", *cmp.Or(w.LastError, new(""))},
		{"Created", s.when(&w.CreatedAt)},
	}
}

// The messages whose events a webhook gets; [everything] is a value, too.
const (
	fromMine   = "mine"
	fromOthers = "others"
)

// MessagesOf are the values of [WebhookSettings.Messages].
var MessagesOf = []string{everything, fromMine, fromOthers}

// WebhookSettings sets fields of a webhook, in addition to the ones of Change. Nil fields stay unchanged, or
// get their default.
type WebhookSettings struct {
	Change              client.WebhookChange
	Types               *[]string // "all" for all types
	Chats, ExcludeChats *[]string // JIDs, numbers or names; "all" or "none" for an empty list
	Messages            string    // all, mine or others; empty for unchanged
	Options             string    // JSON; empty for unchanged
	SecretFile          string    // empty for unchanged
	Since               string    // where a new webhook starts: an event's number, or a time
}

// change returns the change for the API.
func (s *Shell) webhookChange(ctx context.Context, w WebhookSettings) (change client.WebhookChange, err error) {
	change = w.Change
	if change.Types, err = webhookTypes(w.Types); err != nil {
		return change, err
	}
	if change.Chats, err = s.webhookChats(ctx, w.Chats); err != nil {
		return change, err
	}
	if change.ExcludeChats, err = s.webhookChats(ctx, w.ExcludeChats); err != nil {
		return change, err
	}
	switch w.Messages {
	case everything:
		change.FromMe = new((*bool)(nil))
	case fromMine, fromOthers:
		change.FromMe = new(new(w.Messages == fromMine))
	}
	if w.Options != "" {
		decoder := json.NewDecoder(strings.NewReader(w.Options))
		decoder.DisallowUnknownFields()
		if err := decoder.Decode(&change.Options); err != nil || decoder.More() {
			return change, Usage("--format-options must be JSON such as {\"byEvents\":true}, with the formatOptions of the API")
		}
	}
	if change.Secret, err = secretIn(w.SecretFile); err != nil {
		return change, err
	}
	if w.Since != "" {
		change.After, err = s.cursor(ctx, w.Since)
	}
	return change, err
}

func webhookTypes(names *[]string) (*[]bridge.EventType, error) {
	if names == nil {
		return nil, nil
	}
	types, err := parseTypes(*names, bridge.EventTypes())
	return &types, err
}

// webhookChats returns the JIDs of chats, an empty list for "all" and "none".
func (s *Shell) webhookChats(ctx context.Context, names *[]string) (*[]string, error) {
	if names == nil {
		return nil, nil
	}
	chats := []string{}
	for _, name := range *names {
		if len(*names) == 1 && (name == everything || name == "none") {
			break
		}
		chat, err := s.find(ctx, name)
		if err != nil {
			return nil, err
		}
		chats = append(chats, string(chat))
	}
	return &chats, nil
}

// CreateWebhook creates a webhook. It prints the secret alone, for scripts, unless the caller chose it.
func (s *Shell) CreateWebhook(ctx context.Context, settings WebhookSettings) error {
	return s.saveWebhook(ctx, settings, "Created", func(api *client.Client, change client.WebhookChange) (client.Webhook, error) {
		return api.CreateWebhook(ctx, change)
	})
}

// UpdateWebhook changes a webhook. It prints a new secret alone, for scripts.
func (s *Shell) UpdateWebhook(ctx context.Context, id string, settings WebhookSettings) error {
	number, err := parseID("<id>", id)
	if err != nil {
		return err
	}
	return s.saveWebhook(ctx, settings, "Changed", func(api *client.Client, change client.WebhookChange) (client.Webhook, error) {
		w, err := api.UpdateWebhook(ctx, number, change)
		return w, listHint(err, listWebhooks)
	})
}

func (s *Shell) saveWebhook(ctx context.Context, settings WebhookSettings, did string, save func(*client.Client, client.WebhookChange) (client.Webhook, error)) error {
	change, err := s.webhookChange(ctx, settings)
	if err != nil {
		return err
	}
	var answer client.Answer
	w, err := save(s.API.Answering(&answer), change)
	switch {
	case err != nil:
		return err
	case s.JSON:
		return s.printJSON(answer.Body)
	case change.DryRun:
		return s.note("The bridge would accept it. Nothing was changed.")
	case change.Secret != nil:
		w.Secret = "" // the caller has it
	}
	return s.printSecret(fmt.Sprintf("%s webhook %d.", did, w.ID), "Its secret", w.Secret)
}

// printSecret prints a secret alone, for scripts, and notes what was done. It prints nothing if there is no
// secret.
func (s *Shell) printSecret(did, what, secret string) error {
	if secret == "" {
		return s.note("%s", did)
	}
	if err := s.note("%s %s is not shown again:", did, what); err != nil {
		return err
	}
	return s.print("%s\n", Printable(secret))
}

// DeleteWebhook deletes a webhook.
func (s *Shell) DeleteWebhook(ctx context.Context, id string) error {
	return s.deleteByID(ctx, id, "Deleted webhook %d.", listWebhooks, (*client.Client).DeleteWebhook)
}

// TestWebhook posts a test event to a webhook's receiver. It fails if the receiver does not accept it.
func (s *Shell) TestWebhook(ctx context.Context, id string) error {
	number, err := parseID("<id>", id)
	if err != nil {
		return err
	}
	var answer client.Answer
	tried, err := s.API.Answering(&answer).TestWebhook(ctx, number)
	if err != nil {
		return listHint(err, listWebhooks)
	}
	status := ""
	if tried.ResponseStatus != nil {
		status = fmt.Sprintf(" with the status %d", *tried.ResponseStatus)
	}
	if s.JSON || tried.OK {
		if err := s.printDone(answer, "The receiver answered%s after %d ms.", status, tried.DurationMS); err != nil || tried.OK {
			return err
		}
	}
	why := "the receiver answered" + status
	if tried.Error != nil {
		why = *tried.Error
	}
	return fmt.Errorf("the test failed: %s", why)
}

// Deliveries prints deliveries of a webhook, the newest first; limit 0 is all of them.
func (s *Shell) Deliveries(ctx context.Context, id string, status bridge.DeliveryState, limit int) error {
	number, err := parseID("<id>", id)
	if err != nil {
		return err
	}
	columns := []column{{title: "ID"}, {title: "EVENT"}, {title: "TIME"}, {title: "CHAT"}, {title: "STATUS"}, {title: "ATTEMPTS"}, {title: "ANSWER"}, {title: "ERROR", flexible: true}}
	query := bridge.DeliveryQuery{Webhook: number, Status: status, Limit: pageOf(limit)}
	return listHint(list(s, s.API.AllDeliveries(ctx, query), limit, "There are no such deliveries.", columns, func(d bridge.WebhookDelivery) []string {
		response := "-"
		if d.ResponseStatus != nil {
			response = strconv.Itoa(*d.ResponseStatus)
		}
		return []string{
			strconv.FormatInt(d.ID, 10), string(d.EventType), s.when(&d.EventAt), cmp.Or(string(d.ChatJID), "-"), string(d.Status), strconv.Itoa(d.Attempts), response, *cmp.Or(d.LastError, new("")),
		}
	}), listWebhooks)
}

// Redeliver has a delivery posted again, or all dead ones if delivery is "".
func (s *Shell) Redeliver(ctx context.Context, webhook, delivery string) error {
	number, err := parseID("<id>", webhook)
	if err != nil {
		return err
	}
	if delivery != "" {
		id, err := parseID("<delivery>", delivery)
		if err != nil {
			return err
		}
		return listHint(s.redeliver(ctx, number, id), "bridged webhooks deliveries "+webhook)
	}
	var dead []int64 // read before the first post, because posts change the list
	for d, err := range s.deadDeliveries(ctx, number) {
		if err != nil {
			return listHint(err, listWebhooks)
		}
		dead = append(dead, d.ID)
	}
	for _, id := range dead {
		if err := s.redeliver(ctx, number, id); err != nil {
			return err
		}
	}
	if len(dead) == 0 {
		return s.note("There are no dead deliveries.")
	}
	return nil
}

func (s *Shell) deadDeliveries(ctx context.Context, webhook int64) iter.Seq2[bridge.WebhookDelivery, error] {
	return s.API.AllDeliveries(ctx, bridge.DeliveryQuery{Webhook: webhook, Status: bridge.WebhookDead, Limit: maxPage})
}

func (s *Shell) redeliver(ctx context.Context, webhook, delivery int64) error {
	var answer client.Answer
	if _, err := s.API.Answering(&answer).Redeliver(ctx, webhook, delivery); err != nil {
		return err
	}
	return s.printDone(answer, "Delivery %d is posted again.", delivery)
}
