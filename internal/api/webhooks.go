package api

import (
	"context"
	"net/http"
	"slices"
	"strconv"

	"bridged/internal/bridge"
	"bridged/internal/webhook"
)

// maxDeliveries bounds a page of deliveries.
const maxDeliveries = 500

// shownWebhook is a webhook as it is answered. Chat is what chats was when there
// could be one only: the chat, if it is one.
type shownWebhook struct {
	bridge.Webhook
	Chat bridge.JID `json:"chat"`
}

func showWebhook(hook bridge.Webhook) shownWebhook {
	shown := shownWebhook{Webhook: hook}
	if len(hook.Chats) == 1 {
		shown.Chat = hook.Chats[0]
	}
	return shown
}

// withSecret is a webhook with its secret, which is shown once.
type withSecret struct {
	shownWebhook
	Secret string `json:"secret"`
}

func (s *server) listWebhooks(w http.ResponseWriter, r *http.Request) error {
	webhooks, err := s.webhooks.List(r.Context())
	if err != nil {
		return err
	}
	own, err := s.ownsWebhook(r.Context())
	if err != nil {
		return err
	}
	shown := []shownWebhook{}
	for _, hook := range webhooks {
		if own(hook) {
			shown = append(shown, showWebhook(hook))
		}
	}
	return s.answer(w, r, struct {
		Count    int            `json:"count"`
		Webhooks []shownWebhook `json:"webhooks"`
	}{len(shown), shown})
}

func (s *server) createWebhook(w http.ResponseWriter, r *http.Request) error {
	req, change, err := s.decodeWebhook(w, r)
	if err != nil {
		return err
	}
	if req.NewSecret {
		return bridge.Invalid("rotateSecret is for existing webhooks only; a new one gets a new secret anyway")
	}
	after, err := req.after()
	if err != nil {
		return err
	}
	hook := bridge.Webhook{Enabled: true, Cursor: after, Token: callerOf(r.Context()).ID}
	change.Apply(&hook)
	if hook, err = s.addWebhook(r.Context(), hook); err != nil {
		return err
	}
	return s.write(w, r, http.StatusCreated, withSecret{showWebhook(hook), hook.Secret})
}

func (s *server) getWebhook(w http.ResponseWriter, r *http.Request) error {
	hook, err := s.pathWebhook(r)
	if err != nil {
		return err
	}
	return s.answer(w, r, showWebhook(hook))
}

func (s *server) updateWebhook(w http.ResponseWriter, r *http.Request) error {
	id, err := s.pathWebhookID(r)
	if err != nil {
		return err
	}
	req, change, err := s.decodeWebhook(w, r)
	if err != nil {
		return err
	}
	if req.After != nil {
		return bridge.Invalid("after is for new webhooks only; this one keeps its place")
	}
	hook, err := s.webhooks.Update(r.Context(), id, change)
	if err != nil {
		return err
	}
	if change.Secret != nil || change.NewSecret {
		return s.answer(w, r, withSecret{showWebhook(hook), hook.Secret})
	}
	return s.answer(w, r, showWebhook(hook))
}

func (s *server) deleteWebhook(w http.ResponseWriter, r *http.Request) error {
	id, err := s.pathWebhookID(r)
	if err != nil {
		return err
	}
	if err := s.webhooks.Delete(r.Context(), id); err != nil {
		return err
	}
	return s.answer(w, r, struct {
		OK bool `json:"ok"`
	}{true})
}

// testWebhook posts a test. It answers 200 also where the receiver refused it:
// ok in the body reports whether it was accepted.
func (s *server) testWebhook(w http.ResponseWriter, r *http.Request) error {
	id, err := s.pathWebhookID(r)
	if err != nil {
		return err
	}
	tried, err := s.webhooks.Test(r.Context(), id)
	if err != nil {
		return err
	}
	return s.answer(w, r, tried)
}

func (s *server) listDeliveries(w http.ResponseWriter, r *http.Request) error {
	id, err := s.pathWebhookID(r)
	if err != nil {
		return err
	}
	q := readQuery(r)
	const any = "any"
	status := q.oneOf("status", any, any,
		string(bridge.WebhookPending), string(bridge.WebhookDelivered), string(bridge.WebhookDead))
	query := bridge.DeliveryQuery{Webhook: id, Limit: q.limit(maxDeliveries), Cursor: q.text("cursor")}
	if status != any {
		query.Status = bridge.DeliveryState(status)
	}
	if q.err != nil {
		return q.err
	}
	page, err := s.webhooks.Deliveries(r.Context(), query)
	if err != nil {
		return err
	}
	return answerList(s, w, r, plainList("deliveries", page))
}

func (s *server) redeliver(w http.ResponseWriter, r *http.Request) error {
	id, err := s.pathWebhookID(r)
	if err != nil {
		return err
	}
	delivery, err := pathNumber(r, "deliveryId")
	if err != nil {
		return err
	}
	again, err := s.webhooks.Redeliver(r.Context(), id, delivery)
	if err != nil {
		return err
	}
	return s.answer(w, r, again)
}

const (
	// maxOwnWebhooks bounds the webhooks of a token that BRIDGE_TOKEN made, with
	// those of all that was made with it: all callers share a number of them.
	maxOwnWebhooks = 10
	// maxMadeWebhooks bounds those of all tokens together, so that BRIDGE_TOKEN has
	// some left.
	maxMadeWebhooks = webhook.Most - webhook.Most/4
)

// addWebhook keeps a new webhook, unless its maker has as many as it may.
func (s *server) addWebhook(ctx context.Context, hook bridge.Webhook) (bridge.Webhook, error) {
	s.webhookAdds.Lock()
	defer s.webhookAdds.Unlock()
	if err := s.mayAddWebhook(ctx); err != nil {
		return hook, err
	}
	return s.webhooks.Create(ctx, hook)
}

// mayAddWebhook refuses a token that has as many webhooks as it may.
func (s *server) mayAddWebhook(ctx context.Context) error {
	if callerOf(ctx).ID == 0 {
		return nil
	}
	all, err := s.webhooks.List(ctx)
	if err != nil {
		return err
	}
	makers := make([]int64, len(all))
	for i, hook := range all {
		makers[i] = hook.Token
	}
	return s.mayMakeMore(ctx, "webhooks", makers, maxOwnWebhooks, maxMadeWebhooks)
}

// pathWebhook returns the webhook that the path names, if it is the caller's.
func (s *server) pathWebhook(r *http.Request) (bridge.Webhook, error) {
	id, err := pathNumber(r, "id")
	if err != nil {
		return bridge.Webhook{}, err
	}
	hook, err := s.webhooks.Get(r.Context(), id)
	if err != nil {
		return bridge.Webhook{}, err
	}
	own, err := s.ownsWebhook(r.Context())
	if err == nil && !own(hook) {
		err = bridge.NotFound("there is no webhook %d", id)
	}
	return hook, err
}

func (s *server) pathWebhookID(r *http.Request) (int64, error) {
	if callerOf(r.Context()).ID == 0 {
		return pathNumber(r, "id")
	}
	hook, err := s.pathWebhook(r)
	return hook.ID, err
}

// ownsWebhook returns what tells the webhooks that the caller may see: all for
// BRIDGE_TOKEN, those that it or a token of its making made for a token.
func (s *server) ownsWebhook(ctx context.Context) (func(bridge.Webhook) bool, error) {
	if callerOf(ctx).ID == 0 {
		return func(bridge.Webhook) bool { return true }, nil
	}
	tokens, err := s.ownTokens(ctx)
	return func(hook bridge.Webhook) bool {
		return slices.ContainsFunc(tokens, func(token bridge.Token) bool { return token.ID == hook.Token })
	}, err
}

// pathNumber returns a number that the path names; anything else names nothing.
func pathNumber(r *http.Request, name string) (int64, error) {
	value, err := pathParam(r, name)
	if err != nil {
		return 0, err
	}
	n, err := strconv.ParseInt(value, 10, 64)
	if err != nil || n < 1 {
		return 0, bridge.NotFound("no webhook or delivery has this id")
	}
	return n, nil
}
