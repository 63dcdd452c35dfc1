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

func (s *server) listWebhooks(in *input) (any, error) {
	webhooks, err := s.webhooks.List(in.ctx())
	if err != nil {
		return nil, err
	}
	owns, err := s.owns(in.ctx())
	shown := []shownWebhook{}
	for _, hook := range webhooks {
		if err == nil && owns(hook.Token) {
			shown = append(shown, showWebhook(hook))
		}
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
	change.Apply(&hook)
	hook, err := s.addWebhook(in.ctx(), hook)
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
	hook, err := s.webhooks.Update(in.ctx(), id, change)
	if change.Secret != nil || change.NewSecret {
		return withSecret{showWebhook(hook), hook.Secret}, err
	}
	return showWebhook(hook), err
}

func (s *server) deleteWebhook(in *input) (any, error) {
	id := s.pathWebhookID(in)
	if in.err != nil {
		return nil, in.err
	}
	return done{true}, s.webhooks.Delete(in.ctx(), id)
}

// testWebhook posts a test. It answers 200 also where the receiver refused it:
// ok in the body reports whether it was accepted.
func (s *server) testWebhook(in *input) (any, error) {
	id := s.pathWebhookID(in)
	if in.err != nil {
		return nil, in.err
	}
	return s.webhooks.Test(in.ctx(), id)
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
	if in.err != nil {
		return nil, in.err
	}
	page, err := s.webhooks.Deliveries(in.ctx(), query)
	return answerPage(in, "deliveries", page, err)
}

func (s *server) redeliver(in *input) (any, error) {
	id, delivery := s.pathWebhookID(in), in.pathNumber("deliveryId", noWebhook)
	if in.err != nil {
		return nil, in.err
	}
	return s.webhooks.Redeliver(in.ctx(), id, delivery)
}

// addWebhook keeps a new webhook, unless its maker has as many as it may.
func (s *server) addWebhook(ctx context.Context, hook bridge.Webhook) (bridge.Webhook, error) {
	s.webhookAdds.Lock()
	defer s.webhookAdds.Unlock()
	all, err := s.webhooks.List(ctx)
	if err != nil {
		return hook, err
	}
	makers := make([]int64, len(all))
	for i, hook := range all {
		makers[i] = hook.Token
	}
	if err := s.mayAdd(ctx, webhookQuota, makers); err != nil {
		return hook, err
	}
	return s.webhooks.Create(ctx, hook)
}

const noWebhook = "no webhook or delivery has this id"

// pathWebhook returns the webhook that the path names, if it is the caller's.
func (s *server) pathWebhook(in *input) (bridge.Webhook, error) {
	id := in.pathNumber("id", noWebhook)
	if in.err != nil {
		return bridge.Webhook{}, in.err
	}
	hook, err := s.webhooks.Get(in.ctx(), id)
	if err != nil {
		return bridge.Webhook{}, err
	}
	owns, err := s.owns(in.ctx())
	if err == nil && !owns(hook.Token) {
		err = bridge.NotFound("there is no webhook %d", id)
	}
	return hook, err
}

// pathWebhookID returns the id of the webhook that the path names, if it is the
// caller's.
func (s *server) pathWebhookID(in *input) int64 {
	if in.caller().ID == 0 {
		return in.pathNumber("id", noWebhook)
	}
	hook, err := s.pathWebhook(in)
	return keep(in, hook.ID, err)
}
