package chatwoot

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"bridged/internal/bridge"
)

// Refusal is the error of an inbox that the history must not be written into. It says what to change.
type Refusal struct{ sentence string }

func (r *Refusal) Error() string { return r.sentence }

func refuse(format string, args ...any) error { return &Refusal{fmt.Sprintf(format, args...)} }

// check reads the settings of the inbox and of the account. It fails if writing the history could make Chatwoot
// send something to people, or to another program.
func (b *Backfill) check(ctx context.Context) (err error) {
	if b.inbox, err = b.Chatwoot.inbox(ctx, b.Inbox); err != nil {
		return b.explain(err)
	}
	switch b.inbox.ChannelType {
	case channelWhatsApp:
		b.asNotes = true
		if number := bridge.PhoneDigits(b.inbox.PhoneNumber); !bridge.SamePhone(number, b.Own.User()) {
			return refuse("inbox %d is for the number +%s, and the bridge's account has +%s: set CHATWOOT_INBOX_ID to the account's inbox", b.Inbox, number, b.Own.User())
		}
	case channelAPI:
		if err := b.checkAPIInbox(ctx); err != nil {
			return err
		}
	default:
		return refuse("inbox %d is of the type %s: choose one of the type WhatsApp or API", b.Inbox, strings.TrimPrefix(b.inbox.ChannelType, "Channel::"))
	}
	return b.checkRules(ctx)
}

// explain adds what to change to the error of the first call.
func (b *Backfill) explain(err error) error {
	switch {
	case isStatus(err, http.StatusUnauthorized), isStatus(err, http.StatusForbidden):
		return refuse("%v: CHATWOOT_TOKEN must be the access token of an administrator of the account, from Profile Settings", err)
	case isStatus(err, http.StatusNotFound):
		return refuse("%v: there is no inbox %d in this account; check CHATWOOT_URL, CHATWOOT_ACCOUNT_ID and CHATWOOT_INBOX_ID, which are in the address of the inbox's settings", err, b.Inbox)
	case errors.Is(err, errAnswer):
		return refuse("%v", err)
	}
	return err
}

// checkAPIInbox fails if messages of an API inbox are posted somewhere, or answered. A program that gets the
// posts could send the outgoing ones to people.
func (b *Backfill) checkAPIInbox(ctx context.Context) error {
	if b.inbox.WebhookURL != "" {
		return refuse("inbox %d posts its messages to a webhook, which could send them to people again: use an API inbox without a webhook URL for the history", b.Inbox)
	}
	if b.inbox.Greets && b.inbox.Greeting != "" || b.inbox.HasHours && b.inbox.OutOfHoursText != "" {
		return refuse("inbox %d greets people or answers outside business hours: switch both off while the history is sent", b.Inbox)
	}
	hasBot, err := b.Chatwoot.hasBot(ctx, b.Inbox)
	if err != nil {
		return b.explain(err)
	}
	if hasBot {
		return refuse("a bot answers in inbox %d: disconnect it while the history is sent", b.Inbox)
	}
	webhooks, err := b.Chatwoot.webhooks(ctx)
	if err != nil {
		return b.explain(err)
	}
	for _, w := range webhooks {
		if slices.Contains(w.Events, "message_created") {
			return refuse("a webhook of the account gets each new message, and its receiver could send outgoing ones to people again: take message_created out of its events while the history is sent")
		}
	}
	return nil
}

// sending has the actions of rules that send something out of Chatwoot.
var sending = []string{"send_message", "send_attachment", "send_email_to_team", "send_email_transcript", "send_webhook_event"}

// checkRules fails if an automation rule could send something because of the history.
func (b *Backfill) checkRules(ctx context.Context) error {
	rules, err := b.Chatwoot.rules(ctx)
	if err != nil {
		return b.explain(err)
	}
	for _, r := range rules {
		sends := false
		for _, action := range r.Actions {
			sends = sends || slices.Contains(sending, action.Name)
		}
		if r.Active && sends && b.mayMatch(r) {
			return refuse("the automation rule %q (%s) could send messages because of the history: switch it off while the history is sent", r.Name, r.Event)
		}
	}
	return nil
}

// mayMatch reports whether a message or conversation of the history could match a rule. A rule whose conditions
// all must be met does not match if one of them asks for other inboxes or, if only notes are created, for incoming messages.
func (b *Backfill) mayMatch(r rule) bool {
	for _, c := range r.Conditions {
		if strings.EqualFold(c.Joined, "or") {
			return true
		}
	}
	return !slices.ContainsFunc(r.Conditions, func(c condition) bool {
		var want any
		switch c.Attribute {
		case "inbox_id":
			want = b.Inbox
		case "message_type":
			if !b.asNotes {
				return false
			}
			want = "outgoing"
		default:
			return false
		}
		named := slices.ContainsFunc(c.Values, func(value any) bool { return valueText(value) == fmt.Sprint(want) })
		return len(c.Values) > 0 && (c.Operator == "equal_to" && !named || c.Operator == "not_equal_to" && named)
	})
}

// valueText returns a value of a condition, which is a number, a text, or a choice with its id.
func valueText(value any) string {
	switch v := value.(type) {
	case float64:
		return fmt.Sprintf("%.0f", v)
	case map[string]any:
		return valueText(v["id"])
	}
	return fmt.Sprint(value)
}
