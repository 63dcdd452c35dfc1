package api

import (
	"context"

	"bridged/internal/bridge"
	"bridged/internal/webhook"
)

// webhookQuota bounds the webhooks, which all callers share.
var webhookQuota = quota{"webhooks", webhook.Most, 10, webhook.Most - webhook.Most/4, "remove some"}

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

func makerOfWebhook(hook bridge.Webhook) int64 { return hook.Token }

// ownWebhooks returns the webhooks that the caller may see.
func (s *server) ownWebhooks(ctx context.Context) ([]bridge.Webhook, error) {
	all, err := s.Store.Webhooks(ctx)
	if err != nil {
		return nil, err
	}
	return ownOf(ctx, s, all, makerOfWebhook)
}

func (s *server) listWebhooks(in *input) (any, error) {
	webhooks, err := s.ownWebhooks(in.ctx())
	shown := make([]shownWebhook, len(webhooks))
	for i, hook := range webhooks {
		shown[i] = showWebhook(hook)
	}
	return struct {
		Count    int            `json:"count"`
		Webhooks []shownWebhook `json:"webhooks"`
	}{len(shown), shown}, err
}

func (s *server) createWebhook(in *input) (any, error) {
	req, change := s.decodeWebhook(in)
	if req.NewSecret {
		in.refuse("rotateSecret is for existing webhooks only; a new one gets a new secret anyway")
	}
	after := req.after(in)
	if in.err != nil {
		return nil, in.err
	}
	hook := bridge.Webhook{Enabled: true, Cursor: after, Token: in.caller().ID}
	change(&hook)
	hook, err := addOwn(in.ctx(), s, webhookQuota, makerOfWebhook, s.Store.Webhooks, s.Webhooks.Create, hook)
	return created{withSecret{showWebhook(hook), hook.Secret}}, err
}

func (s *server) getWebhook(in *input) (any, error) {
	hook, err := s.pathWebhook(in)
	return showWebhook(hook), err
}

func (s *server) updateWebhook(in *input) (any, error) {
	id := s.pathWebhookID(in)
	req, change := s.decodeWebhook(in)
	if req.After != nil {
		in.refuse("after is for new webhooks only; this one keeps its place")
	}
	if in.err != nil {
		return nil, in.err
	}
	hook, err := s.Webhooks.Update(in.ctx(), id, req.URL != nil || req.AllowPrivate != nil, change)
	if req.Secret != nil {
		return withSecret{showWebhook(hook), hook.Secret}, err
	}
	return showWebhook(hook), err
}

func (s *server) deleteWebhook(in *input) (any, error) {
	id := s.pathWebhookID(in)
	if in.err != nil {
		return nil, in.err
	}
	return done{true}, s.Webhooks.Delete(in.ctx(), id)
}

// testWebhook posts a test. It answers 200 also where the receiver refused it:
// ok in the body reports whether it was accepted.
func (s *server) testWebhook(in *input) (any, error) {
	id := s.pathWebhookID(in)
	if in.err != nil {
		return nil, in.err
	}
	return s.Webhooks.Test(in.ctx(), id)
}

func (s *server) listDeliveries(in *input) (any, error) {
	query := bridge.DeliveryQuery{Webhook: s.pathWebhookID(in)}
	const any = "any"
	status := in.oneOf("status", any, any,
		string(bridge.WebhookPending), string(bridge.WebhookDelivered), string(bridge.WebhookDead))
	query.Limit, query.Cursor = in.limit(maxPage), in.text("cursor")
	if status != any {
		query.Status = bridge.DeliveryState(status)
	}
	return answerPage(in, "deliveries", query, s.Store.Deliveries)
}

func (s *server) redeliver(in *input) (any, error) {
	id, delivery := s.pathWebhookID(in), in.pathNumber("deliveryId", "no delivery has this id")
	if in.err != nil {
		return nil, in.err
	}
	return s.Webhooks.Redeliver(in.ctx(), id, delivery)
}

// pathWebhook returns the webhook that the path names, if it is the caller's.
func (s *server) pathWebhook(in *input) (bridge.Webhook, error) {
	return pathOwn(in, "webhook", s.ownWebhooks, func(hook bridge.Webhook) int64 { return hook.ID })
}

// pathWebhookID returns the id of the webhook that the path names, if it is the
// caller's.
func (s *server) pathWebhookID(in *input) int64 {
	hook, err := s.pathWebhook(in)
	return keep(in, hook.ID, err)
}
