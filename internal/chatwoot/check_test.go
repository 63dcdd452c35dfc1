package chatwoot

import (
	"bytes"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"bridged/internal/chatwoot/chatwoottest"
)

type object = chatwoottest.Object

// rule is an automation rule that sends a message.
func sendingRule(conditions ...object) object {
	return object{"name": "Welcome", "event_name": "message_created", "active": true, "conditions": conditions, "actions": []object{{"action_name": "add_label"}, {"action_name": "send_message"}}}
}

func ifEqual(attribute string, values ...any) object {
	return object{"attribute_key": attribute, "filter_operator": "equal_to", "values": values, "query_operator": nil}
}

// An inbox of which something could leave Chatwoot is refused before anything is written, with what to change.
func TestCheck_Refuses(t *testing.T) {
	t.Parallel()
	or := ifEqual("inbox_id", 9)
	or["query_operator"] = "or"
	rules := func(rules ...object) func(*scene) { return func(s *scene) { s.Rules = rules } }
	set := func(inbox int64, name string, value any) func(*scene) {
		return func(s *scene) { s.Set(inbox, name, value) }
	}
	bridge := newScene(t, talk()...)
	for name, c := range map[string]struct {
		inbox int64
		set   func(*scene)
		says  string // "" if it is accepted
	}{
		"another number":               {whatsAppInbox, set(whatsAppInbox, "phone_number", "+15550109999"), "is for the number +15550109999"},
		"another type":                 {whatsAppInbox, set(whatsAppInbox, "channel_type", "Channel::Email"), "is of the type Email"},
		"an inbox that does not exist": {7, rules(), "there is no inbox 7"},
		"an agent":                     {whatsAppInbox, func(s *scene) { s.IsAgent = true }, "must be the access token of an administrator"},
		"a rule":                       {whatsAppInbox, rules(sendingRule()), `the automation rule "Welcome" (message_created)`},
		"a rule for outgoing messages": {whatsAppInbox, rules(sendingRule(ifEqual("message_type", "outgoing"))), "automation rule"},
		"a rule for incoming messages": {whatsAppInbox, rules(sendingRule(ifEqual("message_type", "incoming"))), ""},
		"the same, in an API inbox":    {apiInbox, rules(sendingRule(ifEqual("message_type", "incoming"))), "automation rule"},
		"a rule for this inbox":        {apiInbox, rules(sendingRule(ifEqual("inbox_id", object{"id": 2, "name": "x"}))), "automation rule"},
		"a rule for another inbox":     {apiInbox, rules(sendingRule(ifEqual("inbox_id", 1), ifEqual("content", "x"))), ""},
		"a rule for either":            {apiInbox, rules(sendingRule(or, ifEqual("content", "x"))), "automation rule"},
		"a rule that is off":           {whatsAppInbox, rules(object{"active": false, "actions": []object{{"action_name": "send_message"}}}), ""},
		"a rule that sends nothing":    {whatsAppInbox, rules(object{"active": true, "actions": []object{{"action_name": "assign_agent"}}}), ""},
		"a webhook of the API inbox":   {apiInbox, set(apiInbox, "webhook_url", "https://n8n.example.com/x"), "posts its messages to a webhook"},
		"a bot of the API inbox":       {apiInbox, func(s *scene) { s.HasBot = true }, "a bot answers"},
		"a greeting of the API inbox":  {apiInbox, func(s *scene) { s.Set(apiInbox, "greeting_enabled", true); s.Set(apiInbox, "greeting_message", "Hi") }, "greets people"},
		"a webhook of the account": {apiInbox, func(s *scene) {
			s.Webhooks = []object{{"url": "https://x", "subscriptions": []string{"message_created"}}}
		}, "a webhook of the account"},
		"a webhook for other events": {apiInbox, func(s *scene) {
			s.Webhooks = []object{{"url": "https://x", "subscriptions": []string{"contact_created"}}}
		}, ""},
		"webhooks beside a WhatsApp one": {whatsAppInbox, func(s *scene) {
			s.Webhooks = []object{{"url": "https://x", "subscriptions": []string{"message_created"}}}
		}, ""},
	} {
		s := bridge.with(t)
		c.set(s)
		_, err := s.run(t.Context(), s.backfill(c.inbox))
		_, isRefusal := errors.AsType[*Refusal](err)
		switch {
		case c.says == "" && (err != nil || len(s.Messages()) != 3):
			t.Errorf("%s: %v", name, err)
		case c.says != "" && (!isRefusal || !strings.Contains(err.Error(), c.says) || len(s.Contacts())+len(s.Messages()) > 0):
			t.Errorf("%s: %v, want %q", name, err, c.says)
		}
	}
}

// A wrong token, account or address ends the run with what to change.
func TestCheck_ExplainsTheAddress(t *testing.T) {
	t.Parallel()
	s := newScene(t, talk()...)
	for want, change := range map[string]func(*Client){
		"CHATWOOT_TOKEN must be":           func(c *Client) { c.token = "another" },
		"administrator of the account":     func(c *Client) { c.base = s.URL + "/api/v1/accounts/2" },
		"check CHATWOOT_URL":               func(c *Client) { c.base = s.URL + "/elsewhere/api/v1/accounts/1" },
		"not one of Chatwoot's API: check": func(c *Client) { c.base = website(t).URL },
	} {
		b := s.backfill(whatsAppInbox)
		change(b.Chatwoot)
		if _, err := s.run(t.Context(), b); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// website answers everything with a page.
func website(t *testing.T) *httptest.Server {
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("<html>")) }))
	t.Cleanup(site.Close)
	return site
}

// A redirection is not followed, because the token would go to the other address.
func TestClient_KeepsTheTokenToItself(t *testing.T) {
	t.Parallel()
	other := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { t.Errorf("asked with %v", r.Header) }))
	t.Cleanup(other.Close)
	site := httptest.NewServer(http.RedirectHandler(other.URL, http.StatusMovedPermanently))
	t.Cleanup(site.Close)
	s := newScene(t)
	b := s.backfill(whatsAppInbox)
	b.Chatwoot.base = site.URL
	if _, err := s.run(t.Context(), b); err == nil || !strings.Contains(err.Error(), "it redirects to "+other.URL) {
		t.Error(err)
	}
}

// An answer without end ends the run.
func TestClient_BoundsAnswers(t *testing.T) {
	t.Parallel()
	var sent atomic.Int64
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		spaces := bytes.Repeat([]byte(" "), 1<<20)
		for sent.Load() < 8*maxAnswer {
			n, err := w.Write(spaces)
			if sent.Add(int64(n)); err != nil {
				return
			}
		}
	}))
	t.Cleanup(site.Close)
	b := newScene(t).backfill(whatsAppInbox)
	b.Chatwoot.base = site.URL
	if _, err := b.Run(t.Context()); err == nil || !strings.Contains(err.Error(), "not one of Chatwoot's API") {
		t.Error(err)
	}
	site.Close()
	if sent.Load() >= 4*maxAnswer {
		t.Errorf("%d bytes were read", sent.Load())
	}
}
