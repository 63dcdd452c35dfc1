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

// Webhook is the form in which Meta posts what happens: one message or one status a post.
type Webhook struct{}

// subscribed is the field of Meta's webhooks that there is. A webhook that the door made
// names it.
var subscribed = []string{"messages"}

// posted are the types of events of which there are posts.
var posted = []bridge.EventType{bridge.EventMessageCreated, bridge.EventMessageUpdated, bridge.EventMessageStatus}

// maxVerifyToken bounds the token that a receiver knows the bridge by.
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
		return bridge.Invalid("formatOptions.verifyToken is required in the format cloud: the text of at most %d bytes that the receiver knows the bridge by", maxVerifyToken)
	}
	return format.CheckText(w.Secret)
}

// Challenge implements [format.Verifier]. The answer is a number without leading zeros, as
// some receivers answer it as one.
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

var errNoAccount = errors.New("no account is linked, of which the posts would be")

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

// change is what one post reports, without what names the account.
type change struct {
	field string
	value object
}

// envelope puts the account around a change.
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

// encode returns JSON in ASCII, as Meta writes it: some receivers escape what they have
// read again before they check its signature.
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
