package hooks

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"bridged/internal/bridge"
)

// firstHeader returns the first of some headers that a delivery has.
func firstHeader(header http.Header, names ...string) string {
	for _, name := range names {
		if value := header.Get(name); value != "" {
			return value
		}
	}
	return ""
}

// eventOf returns the event of a code host's delivery.
func eventOf(header http.Header) string {
	return firstHeader(header, "X-Forgejo-Event", "X-Gitea-Event", "X-Gogs-Event", "X-GitHub-Event")
}

// IsPing reports whether a code host only tests the address.
func IsPing(header http.Header) bool { return eventOf(header) == "ping" }

// Identity distinguishes deliveries.
type Identity struct {
	// ID is empty where nothing identifies a delivery: each counts as a new one then.
	ID string
	// IsBrief reports that the same ID may mean another delivery later: alerts that go
	// on are repeated without a change.
	IsBrief bool
	// IsSigned reports that the ID is of the event and the signed bytes, for a day.
	IsSigned bool
}

// IdentifySigned returns the identity of a signed delivery, without its unsigned parts,
// which an eavesdropper could change. The event counts where the template has a text
// for each.
func (t *Template) IdentifySigned(header http.Header, signed []byte) Identity {
	event := ""
	if t.byEvent[eventOf(header)] != nil {
		event = eventOf(header)
	}
	return Identity{ID: hashed("signed " + event + " " + string(signed)), IsSigned: true}
}

// Identify returns the identity of a delivery: the sender's own, or that of a monitor's
// heartbeat with its text, or of a group of alerts.
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
			return Identity{ID: hashed("heartbeat " + text + " " + string(body))} // a person may have worded it anew
		}
	}
	if object["groupKey"] != nil && object["alerts"] != nil {
		return Identity{ID: hashed("alerts " + strconv.Itoa(len(body)) + " " + string(body)), IsBrief: true}
	}
	return Identity{}
}

// isTest reports whether a payload is the empty push with which Gitea and Forgejo test a
// webhook. It is the same each time; other payloads repeat only when they are delivered
// again, under another id.
func isTest(push map[string]any) bool {
	after, _ := push["after"].(string)
	return after != "" && push["before"] == after
}

// hashed returns a name of fixed length.
func hashed(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// signatureHeaders are those that carry the SHA-256 HMAC of a body, in hex; some
// after "sha256=".
var signatureHeaders = []string{
	"X-Hub-Signature-256", "X-Forgejo-Signature", "X-Gitea-Signature", "X-Gogs-Signature", "X-Grafana-Alerting-Signature",
}

// timestampHeader has the time that Grafana signs before the body, if it is configured
// to use this name.
const timestampHeader = "X-Grafana-Alerting-Timestamp"

// maxSkew limits how far a signed time is from the clock.
const maxSkew = 5 * time.Minute

// Verify refuses a delivery whose sender does not know the secret, with
// [bridge.CodeSignatureInvalid]. Services that cannot sign send the secret itself, as a
// bearer or a password. Each signature must be right, and a signed time must be now.
//
// It returns a copy of the signed bytes, without such a time: the body, or the payload
// in its form; nil where there is no signature.
func Verify(secret string, header http.Header, body []byte, now time.Time) (signed []byte, err error) {
	tried := 0
	for _, name := range signatureHeaders {
		for _, signature := range header.Values(name) {
			tried++
			if signed = signedPart(secret, signature, header, body); signed == nil {
				return nil, bridge.Fail(bridge.CodeSignatureInvalid, "the signature in %s is not that of this body under this hook's secret", name)
			}
		}
	}
	if given, is := authorized(header); is && tried == 0 {
		if tried++; !equal(given, secret) {
			return nil, bridge.Fail(bridge.CodeSignatureInvalid, "the bearer or password in Authorization is not this hook's secret")
		}
	}
	if tried == 0 {
		return nil, bridge.Fail(bridge.CodeSignatureInvalid,
			"this hook has a secret: sign the body (%s), or send the secret as Authorization: Bearer", strings.Join(signatureHeaders, ", "))
	}
	if at := header.Get(timestampHeader); at != "" && signed != nil && !isNow(at, now) {
		return nil, bridge.Fail(bridge.CodeSignatureInvalid, "the time in %s is not within 5 minutes of the clock of bridged", timestampHeader)
	}
	return signed, nil
}

// isNow reports whether a time in seconds since 1970 is that of the clock.
func isNow(at string, now time.Time) bool {
	seconds, err := strconv.ParseInt(at, 10, 64)
	return err == nil && seconds >= now.Add(-maxSkew).Unix() && seconds <= now.Add(maxSkew).Unix()
}

// signedPart returns the bytes that a signature covers: the body, or the payload in its
// form, which Gitea signs where GitHub signs the form. It is nil where the signature is
// wrong.
func signedPart(secret, signature string, header http.Header, body []byte) []byte {
	given, err := hex.DecodeString(strings.TrimPrefix(signature, "sha256="))
	if err != nil {
		return nil
	}
	covered := body
	if at := header.Get(timestampHeader); at != "" {
		covered = append([]byte(at+":"), body...)
	}
	if hmac.Equal(given, Sign(secret, covered)) {
		return append([]byte{}, body...)
	}
	if kind, _, err := mime.ParseMediaType(header.Get("Content-Type")); err == nil && kind == "application/x-www-form-urlencoded" {
		if form, err := url.ParseQuery(string(body)); err == nil && form.Has("payload") && len(form) == 1 && len(form["payload"]) == 1 {
			if payload := []byte(form.Get("payload")); hmac.Equal(given, Sign(secret, payload)) {
				return payload
			}
		}
	}
	return nil
}

// Sign returns the SHA-256 HMAC of a body.
func Sign(secret string, body []byte) []byte {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write(body)
	return mac.Sum(nil)
}

// authorized returns the bearer, or the password, that a delivery carries.
func authorized(header http.Header) (given string, is bool) {
	r := http.Request{Header: header}
	if _, password, isBasic := r.BasicAuth(); isBasic {
		return password, true
	}
	scheme, given, _ := strings.Cut(header.Get("Authorization"), " ")
	return strings.TrimSpace(given), strings.EqualFold(scheme, "Bearer")
}

// equal compares in a time that shows neither length nor the first wrong byte.
func equal(a, b string) bool {
	x, y := sha256.Sum256([]byte(a)), sha256.Sum256([]byte(b))
	return subtle.ConstantTimeCompare(x[:], y[:]) == 1
}
