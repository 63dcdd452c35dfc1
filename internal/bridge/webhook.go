package bridge

import (
	"cmp"
	"maps"
	"time"
)

// WebhookSource says who configures a webhook: the environment or the API.
type WebhookSource string

const (
	WebhookFromAPI         WebhookSource = "api"
	WebhookFromEnvironment WebhookSource = "environment"
)

// WebhookFormat is the form in which a webhook's events are posted.
type WebhookFormat string

// These are the formats: bridged's own, and the ones of other bridges whose clients the
// compatibility APIs support.
const (
	FormatBridged   WebhookFormat = "bridged"
	FormatWAHA      WebhookFormat = "waha"
	FormatEvolution WebhookFormat = "evolution"
	FormatCloud     WebhookFormat = "cloud"
)

// WebhookFormats returns all formats.
func WebhookFormats() []WebhookFormat {
	return []WebhookFormat{FormatBridged, FormatWAHA, FormatEvolution, FormatCloud}
}

// FormatOptions are settings that only some formats have.
type FormatOptions struct {
	Events      []string          `json:"events,omitempty"`      // by the peer's names; empty for the usual ones
	Headers     map[string]string `json:"headers,omitempty"`     // of each post
	ByEvents    bool              `json:"byEvents,omitempty"`    // Evolution: each event to an address of its own
	Base64      bool              `json:"base64,omitempty"`      // Evolution: with the file
	VerifyToken string            `json:"verifyToken,omitempty"` // Cloud: identifies the bridge to the receiver
	Groups      bool              `json:"groups,omitempty"`      // Cloud: messages in groups, too
	GroupChats  bool              `json:"groupChats,omitempty"`  // Cloud: each group as a contact of its own
	OwnMessages bool              `json:"ownMessages,omitempty"` // Cloud: also messages sent from the phone
}

// WithoutSecrets returns the options as later reads show them: without the verify token and the
// values of headers, which are secrets.
func (o FormatOptions) WithoutSecrets() FormatOptions {
	o.VerifyToken, o.Headers = "", maps.Clone(o.Headers)
	for name := range o.Headers {
		o.Headers[name] = ""
	}
	return o
}

// WithSecretsOf returns the options with empty secrets replaced by earlier ones, because reads
// show secrets as empty.
func (o FormatOptions) WithSecretsOf(earlier FormatOptions) FormatOptions {
	o.VerifyToken, o.Headers = cmp.Or(o.VerifyToken, earlier.VerifyToken), maps.Clone(o.Headers)
	for name, value := range o.Headers {
		o.Headers[name] = cmp.Or(value, earlier.Headers[name])
	}
	return o
}

// Webhook is a URL that events are posted to.
type Webhook struct {
	ID  int64  `json:"id"`
	URL string `json:"url"`
	EventFilter
	Format       WebhookFormat `json:"format"`
	Options      FormatOptions `json:"formatOptions"`
	AllowPrivate bool          `json:"allowPrivate"`
	Enabled      bool          `json:"enabled"`
	Source       WebhookSource `json:"source"`
	IsOwn        bool          `json:"isOwn"` // the reader's own token made it, and not one of that token's making; set by the API

	Cursor          int64   `json:"cursor"` // the last event that is delivered, pending or dead
	Pending         int     `json:"pending"`
	Dead            int     `json:"dead"`
	LastDeliveredAt *Time   `json:"lastDeliveredAt"`
	LastFailedAt    *Time   `json:"lastFailedAt"`
	LastError       *string `json:"lastError"` // of the last try, null after a success
	CreatedAt       Time    `json:"createdAt"`
	UpdatedAt       Time    `json:"updatedAt"`

	Token  int64  `json:"-"` // that made it; 0 is BRIDGE_TOKEN
	Only   []JID  `json:"-"` // the chats of that token; nil for all
	EndsAt *Time  `json:"-"` // when that token ends
	Secret string `json:"-"` // signs posts; shown once
}

// DeliveryState is the state of a delivery to a webhook.
type DeliveryState string

// These are the states of deliveries. Dead ones are not tried again.
const (
	WebhookPending   DeliveryState = "pending"
	WebhookDelivered DeliveryState = "delivered"
	WebhookDead      DeliveryState = "dead"
)

// EventReset is the type of the event that replaces lost events.
const EventReset EventType = "reset"

// WebhookDelivery is the delivery of one event to one webhook.
type WebhookDelivery struct {
	ID             int64         `json:"id"` // 0 until it is stored
	WebhookID      int64         `json:"webhookId"`
	EventID        int64         `json:"eventId"`
	EventType      EventType     `json:"eventType"`
	EventAt        Time          `json:"eventAt"`
	ChatJID        JID           `json:"chatJid"`
	Status         DeliveryState `json:"status"`
	Attempts       int           `json:"attempts"`
	FirstAttemptAt *Time         `json:"firstAttemptAt"`
	LastAttemptAt  *Time         `json:"lastAttemptAt"`
	NextAttemptAt  *Time         `json:"nextAttemptAt"`
	ResponseStatus *int          `json:"responseStatus"`
	LastError      *string       `json:"lastError"`

	Queue int64 `json:"-"` // the chat's row in the store: its JID may change
	// Tried is how long it has been tried: the sum of the pauses, as the clock may jump.
	Tried time.Duration `json:"-"`
}

// These are the queues of events without a chat: the account's, and the reset, which is posted
// first.
const (
	QueueAccount int64 = 0
	QueueReset   int64 = -1
)

// DeliveryQuery asks for a page of a webhook's deliveries, newest first.
type DeliveryQuery struct {
	Webhook int64
	Status  DeliveryState
	Limit   int
	Cursor  string
}

// Hook is an incoming webhook: a URL at which another service's posts become messages to a chat.
type Hook struct {
	ID        int64  `json:"id"`
	Name      string `json:"name"`
	Chat      JID    `json:"chatJid"`
	Template  string `json:"template"` // the name of a shipped one, or its source
	HasSecret bool   `json:"hasSecret"`
	Enabled   bool   `json:"enabled"`

	LastDeliveryAt *Time   `json:"lastDeliveryAt"` // the last that was accepted, to the minute
	LastFailedAt   *Time   `json:"lastFailedAt"`
	LastError      *string `json:"lastError"` // of the last delivery, null if it was accepted
	CreatedAt      Time    `json:"createdAt"`
	UpdatedAt      Time    `json:"updatedAt"`

	Secret  string `json:"-"` // signs posts; empty if none
	KeyHash []byte `json:"-"` // the SHA-256 of the key in its address
	Token   int64  `json:"-"` // that made it; 0 is BRIDGE_TOKEN
}
