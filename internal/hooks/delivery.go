package hooks

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"net/textproto"
	"strconv"
)

// canonical returns the name of a header as it is kept.
func canonical(name string) string { return textproto.CanonicalMIMEHeaderKey(name) }

// firstHeader returns the first of some headers that a delivery has.
func firstHeader(header http.Header, names ...string) string {
	for _, name := range names {
		if value := header.Get(name); value != "" {
			return value
		}
	}
	return ""
}

// eventOf returns what a code host tells of.
func eventOf(header http.Header) string {
	return firstHeader(header, "X-Forgejo-Event", "X-Gitea-Event", "X-Gogs-Event", "X-GitHub-Event")
}

// IsPing reports whether a delivery only asks whether somebody is there.
func IsPing(header http.Header) bool { return eventOf(header) == "ping" }

// Identity is what tells one delivery from another.
type Identity struct {
	// ID is empty where nothing tells: each is one of its own then.
	ID string
	// IsBrief reports that the same ID may mean another delivery later: alerts
	// that go on are told again, with nothing new in them.
	IsBrief bool
	// IsSigned reports that the ID is that of a signed delivery: of its event and
	// what is signed, for a day.
	IsSigned bool
}

// IdentifySigned returns the identity of a signed delivery: what else it carries,
// ids too, anybody may change who has seen it. The event counts where the
// template has a text for each.
func (t *Template) IdentifySigned(header http.Header, signed []byte) Identity {
	event := ""
	if t.byEvent[eventOf(header)] != nil {
		event = eventOf(header)
	}
	return Identity{ID: hashed("signed " + event + " " + string(signed)), IsSigned: true}
}

// Identify returns the identity of a delivery: the sender's own, or what its
// service makes of a monitor's moment or of a group of alerts.
func Identify(header http.Header, payload any, body []byte) Identity {
	object, _ := payload.(map[string]any)
	if firstHeader(header, "X-Forgejo-Delivery", "X-Gitea-Delivery") != "" && !isTest(object) {
		return Identity{ID: hashed("event " + eventOf(header) + " " + string(body))}
	}
	id := firstHeader(header, "X-Forgejo-Delivery", "X-Gitea-Delivery", "X-GitHub-Delivery", "X-Gogs-Delivery",
		"Webhook-Id", "Idempotency-Key")
	if id != "" {
		return Identity{ID: hashed("sender " + id)}
	}
	if beat, isBeat := object["heartbeat"].(map[string]any); isBeat && beat["time"] != nil {
		text, err := textOf([]any{beat["monitorID"], beat["time"], beat["status"]})
		if err == nil {
			return Identity{ID: hashed("heartbeat " + text)}
		}
	}
	if object["groupKey"] != nil && object["alerts"] != nil {
		return Identity{ID: hashed("alerts " + strconv.Itoa(len(body)) + " " + string(body)), IsBrief: true}
	}
	return Identity{}
}

// isTest reports whether a payload is what Gitea and Forgejo post to try a webhook
// out: a push of nothing, which is the same each time. What else they post is the
// same only when they deliver it again, and then under another id.
func isTest(push map[string]any) bool {
	after, _ := push["after"].(string)
	return after != "" && push["before"] == after
}

// hashed returns a name of fixed length for whatever a sender calls a delivery.
func hashed(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}
