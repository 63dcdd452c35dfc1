package bridge

import (
	"cmp"
	"maps"
	"time"
)

// WebhookSource says who configures a webhook.
type WebhookSource string

const (
	WebhookFromAPI         WebhookSource = "api"
	WebhookFromEnvironment WebhookSource = "environment"
)

// WebhookFormat names the form in which a webhook's events are posted.
type WebhookFormat string

// The formats: bridged's own, and those of the bridges whose clients the doors let in.
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

// FormatOptions holds settings of a webhook that only some formats have.
type FormatOptions struct {
	Events      []string          `json:"events,omitempty"`      // by the peer's names; empty for the usual ones
	Headers     map[string]string `json:"headers,omitempty"`     // of each post
	ByEvents    bool              `json:"byEvents,omitempty"`    // Evolution: each event to an address of its own
	Base64      bool              `json:"base64,omitempty"`      // Evolution: with the file
	VerifyToken string            `json:"verifyToken,omitempty"` // Cloud: what the receiver knows the bridge by
	Groups      bool              `json:"groups,omitempty"`      // Cloud: messages in groups, too
	GroupChats  bool              `json:"groupChats,omitempty"`  // Cloud: each group as a contact of its own
	OwnMessages bool              `json:"ownMessages,omitempty"` // Cloud: those that the phone sent, too
}

// WithoutSecrets returns the options as later reads show them: without the verify token and
// the values of headers, which are secrets of the receiver.
func (o FormatOptions) WithoutSecrets() FormatOptions {
	o.VerifyToken, o.Headers = "", maps.Clone(o.Headers)
	for name := range o.Headers {
		o.Headers[name] = ""
	}
	return o
}

// WithSecretsOf returns the options with those secrets of earlier ones that are given empty,
// as reads show them.
func (o FormatOptions) WithSecretsOf(earlier FormatOptions) FormatOptions {
	o.VerifyToken, o.Headers = cmp.Or(o.VerifyToken, earlier.VerifyToken), maps.Clone(o.Headers)
	for name, value := range o.Headers {
		o.Headers[name] = cmp.Or(value, earlier.Headers[name])
	}
	return o
}

// Webhook is an address to which events are posted.
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
	Secret string `json:"-"` // signs what is posted; shown once
}

// DeliveryState is the state of a delivery to a webhook.
type DeliveryState string

// The states of deliveries. Dead ones are no longer tried.
const (
	WebhookPending   DeliveryState = "pending"
	WebhookDelivered DeliveryState = "delivered"
	WebhookDead      DeliveryState = "dead"
)

// EventReset is the type of the event that stands for lost ones.
const EventReset EventType = "reset"

// WebhookDelivery is the delivery of one event to one webhook.
type WebhookDelivery struct {
	ID             int64         `json:"id"` // 0 until it is kept
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
	// Tried is how long it has been tried: the sum of the pauses, as a clock may jump.
	Tried time.Duration `json:"-"`
}

// The queues of events without a chat: those of the account, and the reset, which goes
// first.
const (
	QueueAccount int64 = 0
	QueueReset   int64 = -1
)

// DeliveryQuery asks for a page of a webhook's deliveries, the newest first.
type DeliveryQuery struct {
	Webhook int64
	Status  DeliveryState
	Limit   int
	Cursor  string
}

// Hook is an address at which another service's posts become messages to a chat.
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

	Secret  string `json:"-"` // signs what is posted; empty for none
	KeyHash []byte `json:"-"` // the SHA-256 of the key in its address
	Token   int64  `json:"-"` // that made it; 0 is BRIDGE_TOKEN
}
