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

// firstHeader returns the first of the named headers that a delivery has.
func firstHeader(header http.Header, names ...string) string {
	for _, name := range names {
		if value := header.Get(name); value != "" {
			return value
		}
	}
	return ""
}

// eventOf returns the event in a code host's delivery.
func eventOf(header http.Header) string {
	return firstHeader(header, "X-Forgejo-Event", "X-Gitea-Event", "X-Gogs-Event", "X-GitHub-Event")
}

// IsPing reports whether a delivery is only a code host's test of the address.
func IsPing(header http.Header) bool { return eventOf(header) == "ping" }

// Identity identifies a delivery, so that repeated ones are recognised.
type Identity struct {
	// ID is empty if nothing identifies a delivery. It then counts as a new one.
	ID string
	// IsBrief means that the same ID may later stand for another delivery: ongoing alerts are
	// repeated unchanged.
	IsBrief bool
	// IsSigned means that the ID is derived from the event and the signed bytes. It is valid for
	// a day.
	IsSigned bool
}

// IdentifySigned returns the identity of a signed delivery. It ignores unsigned parts, because an
// eavesdropper could change them. The event counts if the template has a text for each event.
func (t *Template) IdentifySigned(header http.Header, signed []byte) Identity {
	event := ""
	if t.byEvent[eventOf(header)] != nil {
		event = eventOf(header)
	}
	return Identity{ID: hashed("signed " + event + " " + string(signed)), IsSigned: true}
}

// Identify returns the identity of a delivery: the sender's own id, or a monitor's heartbeat with
// its text, or a group of alerts.
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

// isTest reports whether a payload is the empty push that Gitea and Forgejo send to test a
// webhook. It is always the same. Other payloads are repeated only when they are delivered again,
// with another id.
func isTest(push map[string]any) bool {
	after, _ := push["after"].(string)
	return after != "" && push["before"] == after
}

// hashed returns a hash of text, as a name of fixed length.
func hashed(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// signatureHeaders contain the SHA-256 HMAC of the body in hex, some after "sha256=".
var signatureHeaders = []string{
	"X-Hub-Signature-256", "X-Forgejo-Signature", "X-Gitea-Signature", "X-Gogs-Signature", "X-Grafana-Alerting-Signature",
}

// timestampHeader contains the time that Grafana signs together with the body, if it is
// configured to use this name.
const timestampHeader = "X-Grafana-Alerting-Timestamp"

// maxSkew is the largest difference between a signed time and the clock.
const maxSkew = 5 * time.Minute

// Verify refuses a delivery with [bridge.CodeSignatureInvalid] unless its sender knows the
// secret. Services that cannot sign send the secret itself, as a bearer token or a password.
// Every signature must be correct, and a signed time must be within maxSkew of now.
//
// It returns a copy of the signed bytes without the time: the body, or the payload in its form;
// nil if there is no signature.
func Verify(secret string, header http.Header, body []byte, now time.Time) (signed []byte, err error) {
	tried := 0
	for _, name := range signatureHeaders {
		for _, signature := range header.Values(name) {
			tried++
			if signed = signedPart(secret, signature, header, body); signed == nil {
				return nil, bridge.Fail(bridge.CodeSignatureInvalid, "the signature in %s does not match this body and this hook's secret", name)
			}
		}
	}
	if given, ok := authorized(header); ok && tried == 0 {
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

// isNow reports whether a time in seconds since 1970 is within maxSkew of the clock.
func isNow(at string, now time.Time) bool {
	seconds, err := strconv.ParseInt(at, 10, 64)
	return err == nil && seconds >= now.Add(-maxSkew).Unix() && seconds <= now.Add(maxSkew).Unix()
}

// signedPart returns the bytes that a signature covers, or nil if the signature is wrong. For a
// form, Gitea signs the payload in it, and GitHub signs the whole form.
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

// authorized returns the bearer token or the password of a delivery.
func authorized(header http.Header) (given string, is bool) {
	r := http.Request{Header: header}
	if _, password, isBasic := r.BasicAuth(); isBasic {
		return password, true
	}
	return bridge.Bearer(header.Get("Authorization"))
}

// equal compares in constant time. The time shows neither the length nor the first wrong byte.
func equal(a, b string) bool {
	x, y := sha256.Sum256([]byte(a)), sha256.Sum256([]byte(b))
	return subtle.ConstantTimeCompare(x[:], y[:]) == 1
}
