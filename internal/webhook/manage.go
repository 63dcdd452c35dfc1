package webhook

import (
	"context"
	"crypto/rand"
	"net/url"
	"slices"
	"time"

	"bridged/internal/bridge"
	"bridged/internal/urlguard"
)

const (
	// most is how many webhooks there may be: each has a loop of its own.
	most = 50
	// maxURL is the length of the longest address.
	maxURL = 2048
)

// List are all webhooks.
func (d *Dispatcher) List(ctx context.Context) ([]bridge.Webhook, error) {
	return d.store.Webhooks(ctx)
}

// Get is one webhook.
func (d *Dispatcher) Get(ctx context.Context, id int64) (bridge.Webhook, error) {
	return d.store.Webhook(ctx, id)
}

// Create adds a webhook. Where w has no secret it gets one; either way the
// answer is the only one that shows it.
func (d *Dispatcher) Create(ctx context.Context, w bridge.Webhook) (bridge.Webhook, error) {
	if w.Secret == "" {
		w.Secret = newSecret()
	}
	w.Source = bridge.WebhookFromAPI
	if err := d.check(w); err != nil {
		return bridge.Webhook{}, err
	}
	all, err := d.store.Webhooks(ctx)
	if err != nil {
		return bridge.Webhook{}, err
	}
	if len(all) >= most {
		return bridge.Webhook{}, bridge.Invalid("there are %d webhooks already, which is the most", most)
	}
	secret := w.Secret
	if w, err = d.store.AddWebhook(ctx, w); err != nil {
		return bridge.Webhook{}, err
	}
	d.changed(w.ID)
	w.Secret = secret
	return w, nil
}

// Change is what is to be different about a webhook; nil stays as it is.
type Change struct {
	URL          *string
	Types        *[]bridge.EventType
	Chat         *bridge.JID
	AllowPrivate *bool
	Enabled      *bool
	Secret       *string
	NewSecret    bool // makes one
}

// Apply makes the change.
func (c Change) Apply(w *bridge.Webhook) {
	set(&w.URL, c.URL)
	set(&w.Types, c.Types)
	set(&w.Chat, c.Chat)
	set(&w.AllowPrivate, c.AllowPrivate)
	set(&w.Enabled, c.Enabled)
	set(&w.Secret, c.Secret)
	if c.NewSecret {
		w.Secret = newSecret()
	}
}

// Update changes a webhook. It goes on where it was in the log.
func (d *Dispatcher) Update(ctx context.Context, id int64, c Change) (bridge.Webhook, error) {
	w, err := d.store.ChangeWebhook(ctx, id, func(w *bridge.Webhook) error {
		if w.Source == bridge.WebhookFromEnvironment {
			return errFromEnvironment()
		}
		c.Apply(w)
		return d.check(*w)
	})
	if err != nil {
		return bridge.Webhook{}, err
	}
	d.changed(id)
	return w, nil
}

func set[T any](field *T, value *T) {
	if value != nil {
		*field = *value
	}
}

func errFromEnvironment() error {
	return bridge.Invalid("this webhook is configured by the environment; change WEBHOOK_URL, WEBHOOK_SECRET or WEBHOOK_EVENTS and restart")
}

// Delete removes a webhook with all that was still to be delivered. One that
// the environment configures can only go after it has gone from there.
func (d *Dispatcher) Delete(ctx context.Context, id int64) error {
	err := d.store.RemoveWebhook(ctx, id, func(w bridge.Webhook) error {
		if w.Source == bridge.WebhookFromEnvironment && w.Enabled {
			return errFromEnvironment()
		}
		return nil
	})
	if err == nil {
		d.changed(id)
	}
	return err
}

// check refuses a webhook that could never work.
func (d *Dispatcher) check(w bridge.Webhook) error {
	if err := CheckURL(w.URL); err != nil {
		return err
	}
	if err := CheckSecret(w.Secret); err != nil {
		return err
	}
	if w.AllowPrivate {
		return nil
	}
	if err := d.guard.Check(w.URL); err != nil {
		return bridge.Invalid("url: %s; a receiver in one's own network needs allowPrivate", reason(err))
	}
	return nil
}

func reason(err error) string {
	if refused, ok := err.(*urlguard.Error); ok {
		return refused.Reason
	}
	return err.Error()
}

// CheckURL refuses what is no address of a receiver.
func CheckURL(raw string) error {
	u, err := url.Parse(raw)
	switch {
	case raw == "":
		return bridge.Invalid("url is required")
	case len(raw) > maxURL:
		return bridge.Invalid("url is longer than %d characters", maxURL)
	case err != nil: // its words would repeat the address
		return bridge.Invalid("url is malformed")
	case u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "":
		return bridge.Invalid("url must begin with http:// or https:// and name a host")
	case u.User != nil:
		return bridge.Invalid("url must not carry a user name or password: it is shown to whoever may list webhooks")
	}
	return nil
}

// Endpoint is a webhook that the environment configures.
type Endpoint struct {
	URL, Secret  string
	Types        []bridge.EventType
	AllowPrivate bool
}

// Configure brings the webhooks of the environment up to date before a start.
// One that is no longer named is switched off and keeps its place in the log,
// so that it goes on there when it is named again.
func (d *Dispatcher) Configure(ctx context.Context, endpoints []Endpoint) error {
	all, err := d.store.Webhooks(ctx)
	if err != nil {
		return err
	}
	for _, w := range all {
		isNamed := slices.ContainsFunc(endpoints, func(e Endpoint) bool { return e.URL == w.URL })
		if w.Source == bridge.WebhookFromEnvironment && w.Enabled && !isNamed {
			if err := d.configure(ctx, w, func(w *bridge.Webhook) { w.Enabled = false }); err != nil {
				return err
			}
		}
	}
	for _, e := range endpoints {
		if err := d.configureOne(ctx, all, e); err != nil {
			return err
		}
	}
	return nil
}

func (d *Dispatcher) configureOne(ctx context.Context, all []bridge.Webhook, e Endpoint) error {
	apply := func(w *bridge.Webhook) {
		w.URL, w.Secret, w.Types, w.AllowPrivate, w.Enabled = e.URL, e.Secret, e.Types, e.AllowPrivate, true
	}
	for _, w := range all {
		if w.Source == bridge.WebhookFromEnvironment && w.URL == e.URL {
			return d.configure(ctx, w, apply)
		}
	}
	w := bridge.Webhook{Source: bridge.WebhookFromEnvironment, Cursor: -1}
	apply(&w)
	if err := d.check(w); err != nil {
		return err
	}
	_, err := d.store.AddWebhook(ctx, w)
	return err
}

func (d *Dispatcher) configure(ctx context.Context, w bridge.Webhook, apply func(*bridge.Webhook)) error {
	_, err := d.store.ChangeWebhook(ctx, w.ID, func(w *bridge.Webhook) error {
		apply(w)
		return d.check(*w)
	})
	return err
}

// Tried is how a single try went.
type Tried struct {
	OK         bool    `json:"ok"`
	Status     *int    `json:"responseStatus"`
	Error      *string `json:"error"`
	DurationMS int64   `json:"durationMs"`
}

// eventTest is the type of what Test posts.
const eventTest bridge.EventType = "webhook.test"

// Test posts something that is no event, once, and tells how that went.
func (d *Dispatcher) Test(ctx context.Context, id int64) (Tried, error) {
	w, err := d.store.Webhook(ctx, id)
	if err != nil {
		return Tried{}, err
	}
	got := d.post(ctx, w, "test_"+rand.Text(), payload{eventTest, bridge.At(time.Now()), struct {
		WebhookID int64 `json:"webhookId"`
	}{w.ID}})
	if err := ctx.Err(); err != nil {
		return Tried{}, err
	}
	tried := Tried{OK: got.failure == "", DurationMS: got.took.Milliseconds()}
	if got.status != 0 {
		tried.Status = &got.status
	}
	if got.failure != "" {
		tried.Error = &got.failure
	}
	return tried, nil
}

// Deliveries lists deliveries.
func (d *Dispatcher) Deliveries(ctx context.Context, q bridge.DeliveryQuery) (bridge.Page[bridge.WebhookDelivery], error) {
	return d.store.Deliveries(ctx, q)
}

// Redeliver posts an event once more, whether it was delivered or given up, and
// answers the delivery as it is then: where that fails it is a dead letter (again).
// What is pending anyway is tried as soon as it is its turn.
func (d *Dispatcher) Redeliver(ctx context.Context, webhook, delivery int64) (bridge.WebhookDelivery, error) {
	w, err := d.store.Webhook(ctx, webhook)
	if err != nil {
		return bridge.WebhookDelivery{}, err
	}
	kept, err := d.store.Delivery(ctx, webhook, delivery)
	if err != nil {
		return bridge.WebhookDelivery{}, err
	}
	if kept.Status == bridge.DeliveryPosting {
		if err := d.store.RetryDeliveries(ctx, webhook); err != nil {
			return bridge.WebhookDelivery{}, err
		}
		d.changed(webhook)
		return d.store.Delivery(ctx, webhook, delivery)
	}
	event, found, err := d.event(ctx, &kept)
	if err != nil {
		return bridge.WebhookDelivery{}, err
	}
	if !found {
		return bridge.WebhookDelivery{}, bridge.NotFound("event %d is not in the log any more", kept.EventID)
	}
	got := d.post(ctx, w, idOf(&kept), payloadOf(event))
	if err := ctx.Err(); err != nil {
		return bridge.WebhookDelivery{}, err
	}
	note(&kept, got, time.Now())
	if got.failure != "" {
		abandon(&kept, got.failure)
	}
	return kept, d.store.SaveDeliveries(context.WithoutCancel(ctx), webhook, -1, []bridge.WebhookDelivery{kept})
}
