package bridge

import "time"

// WebhookSource is who configures a webhook.
type WebhookSource string

// The sources of webhooks.
const (
	WebhookFromAPI         WebhookSource = "api"
	WebhookFromEnvironment WebhookSource = "environment"
)

// Webhook is an address that events are posted to, which of them, and how that
// goes.
type Webhook struct {
	ID  int64  `json:"id"`
	URL string `json:"url"`
	EventFilter
	AllowPrivate bool          `json:"allowPrivate"`
	Enabled      bool          `json:"enabled"`
	Source       WebhookSource `json:"source"`

	// Cursor is the last event that was looked at; what came before it is
	// delivered, pending or dead.
	Cursor          int64   `json:"cursor"`
	Pending         int     `json:"pending"`
	Dead            int     `json:"dead"`
	LastDeliveredAt *Time   `json:"lastDeliveredAt"`
	LastFailedAt    *Time   `json:"lastFailedAt"`
	LastError       *string `json:"lastError"` // of the last try, null after a success
	CreatedAt       Time    `json:"createdAt"`
	UpdatedAt       Time    `json:"updatedAt"`

	// Token is the token that made it, 0 for BRIDGE_TOKEN. Only are that token's
	// chats, nil for all, and EndsAt is when it ends.
	Token  int64 `json:"-"`
	Only   []JID `json:"-"`
	EndsAt *Time `json:"-"`

	// Secret signs what is posted ("whsec_…"). It is shown when it is made and
	// never again.
	Secret string `json:"-"`
}

// DeliveryState is how far the delivery of an event to a webhook is.
type DeliveryState string

// The states of deliveries. Dead ones are no longer tried by themselves.
const (
	WebhookPending   DeliveryState = "pending"
	WebhookDelivered DeliveryState = "delivered"
	WebhookDead      DeliveryState = "dead"
)

// EventReset is the type of what a webhook is sent when it was behind the
// beginning of the log: events were lost to it.
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

	// Queue is the chat's row in the store, by which deliveries are kept in
	// order: a chat's JID may change.
	Queue int64 `json:"-"`
	// Tried is how long it has been tried. It is added up from what each pause
	// was, so that a clock that jumps changes nothing.
	Tried time.Duration `json:"-"`
}

// The queues of what belongs to no chat: events of the account, and the reset
// that goes before everything else.
const (
	QueueAccount int64 = 0
	QueueReset   int64 = -1
)

// DeliveryQuery is a page of a webhook's deliveries, the newest first. An empty
// Status is any.
type DeliveryQuery struct {
	Webhook int64
	Status  DeliveryState
	Limit   int
	Cursor  string
}
