package cloud

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"math/big"
	"net/url"
	"slices"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"

	"bridged/internal/bridge"
	"bridged/internal/webhook/format"
)

// Webhook is the format of Meta's webhooks, with one message or status in a post.
type Webhook struct{}

// subscribed is the only field of Meta's webhooks that there is. The webhooks that subscribe creates have it.
var subscribed = []string{"messages"}

// posted has the types of events that are posted.
var posted = []bridge.EventType{bridge.EventMessageCreated, bridge.EventMessageUpdated, bridge.EventMessageStatus}

// maxVerifyToken limits the token by which a receiver recognises the bridge.
const maxVerifyToken = 256

// Check implements [format.Format].
func (Webhook) Check(w bridge.Webhook) error {
	o := w.Options
	switch {
	case o.ByEvents || o.Base64:
		return bridge.Invalid("formatOptions: byEvents and base64 are not for the format cloud")
	case len(o.Events) > 0 && !slices.Equal(o.Events, subscribed):
		return bridge.Invalid("formatOptions.events can only be messages in the format cloud")
	case o.VerifyToken == "" || len(o.VerifyToken) > maxVerifyToken:
		return bridge.Invalid("formatOptions.verifyToken is required in the format cloud: the text of at most %d bytes by which the receiver recognises the bridge", maxVerifyToken)
	}
	return format.CheckText(w.Secret)
}

// Challenge implements [format.Verifier]. Some receivers answer with a number, so the answer is one without
// leading zeros.
func (Webhook) Challenge(w bridge.Webhook) (address, answer string) {
	const least, most = 1_000_000_000, 1 << 31
	n, _ := rand.Int(rand.Reader, big.NewInt(most-least)) // never fails (crypto/rand)
	answer = strconv.FormatInt(least+n.Int64(), 10)
	u, err := url.Parse(w.URL)
	if err != nil { // the address was checked before
		return w.URL, answer
	}
	query := url.Values{"hub.mode": {"subscribe"}, "hub.verify_token": {w.Options.VerifyToken}, "hub.challenge": {answer}}.Encode()
	if u.RawQuery != "" {
		query = u.RawQuery + "&" + query
	}
	u.RawQuery = query
	return u.String(), answer
}

var errNoAccount = errors.New("no account is linked that the posts could name")

// Posts implements [format.Format].
func (Webhook) Posts(d format.Delivery) (posts []format.Post, err error) {
	changes := changesOf(d)
	if len(changes) > 0 && d.Own.User == nil && d.Event.Type != format.Test {
		return nil, errNoAccount
	}
	for _, change := range changes {
		body, err := encode(envelope(d.Own, change))
		if err != nil {
			return nil, err
		}
		header := format.Header(d.Webhook)
		header.Set("X-Hub-Signature-256", sign(d.Webhook.Secret, body))
		posts = append(posts, format.Post{URL: d.Webhook.URL, Header: header, Body: body})
	}
	return posts, nil
}

// sign returns the signature of a body.
func sign(secret string, body []byte) string {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write(body)
	return "sha256=" + hex.EncodeToString(mac.Sum(nil))
}

// object is a JSON object.
type object = map[string]any

// change is the content of a post without the account.
type change struct {
	field string
	value object
}

// envelope returns the body of a post.
func envelope(own format.Account, c change) object {
	number := "0"
	if own.User != nil {
		number = own.User.JID.User()
	}
	c.value["messaging_product"] = "whatsapp"
	c.value["metadata"] = object{"display_phone_number": number, "phone_number_id": number}
	return object{"object": "whatsapp_business_account", "entry": []any{
		object{"id": number, "changes": []any{object{"field": c.field, "value": c.value}}},
	}}
}

// encode returns JSON in ASCII, as Meta does, because some receivers escape the body again before they check its
// signature.
func encode(v any) ([]byte, error) {
	plain, err := bridge.EncodeJSON(v)
	if err != nil {
		return nil, err
	}
	ascii := make([]byte, 0, len(plain)+len(plain)/8)
	for len(plain) > 0 {
		r, size := utf8.DecodeRune(plain)
		plain = plain[size:]
		switch {
		case r < 0x7f:
			ascii = append(ascii, byte(r))
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			ascii = fmt.Appendf(ascii, `\u%04x\u%04x`, high, low)
		default:
			ascii = fmt.Appendf(ascii, `\u%04x`, r)
		}
	}
	return ascii, nil
}
