package console

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	template "github.com/DataDog/datadog-agent/pkg/template/html"

	"rsc.io/qr"

	"bridged/internal/bridge"
)

// pairPage links the account: by QR code, by a code to type, or with a passkey.
type pairPage struct {
	Account bridge.Status
	State   state
	QR      template.HTML
	Phone   string // the only number that may pair; empty for any
	Asked   string // the number that was typed
	Typed   string // the answer of an authenticator
	Wrong   map[string]string
	Passkey string // the network's request to an authenticator
	Curl    string
}

func (c *Console) showPair(v *visit) error {
	return v.showPairWith(http.StatusOK, pairPage{Asked: v.r.URL.Query().Get("phone")})
}

func (v *visit) showPairWith(status int, page pairPage) (err error) {
	page.Phone, page.Curl = v.c.options.PhoneNumber, curl("POST", "/api/auth/pair", map[string]string{"phone": "15551234567"})
	if page.Account, err = v.status(); err != nil {
		return err
	}
	page.State = describe(page.Account)
	if page.Account.QR != nil {
		if page.QR, err = qrSVG(*page.Account.QR); err != nil {
			return err
		}
	}
	if p := page.Account.Passkey; p != nil {
		page.Passkey = indented(p.PublicKey)
	}
	return v.showAs(status, "pair", "Link an account", page)
}

// pairingFields names the fields of the API as the page calls them.
var pairingFields = map[string]words{"phone": {"phone", "The number"}}

func (c *Console) pair(v *visit) error {
	f := v.form()
	phone := strings.TrimSpace(f.Get("phone"))
	var err error
	if phone != "" {
		if phone, err = bridge.ParsePhone(phone); err != nil {
			f.refuse("phone", "Enter the number with its country code, for example +1 555 123 4567.")
			return v.pairAgain(f, http.StatusBadRequest)
		}
	}
	if _, err = v.api.Pair(v.r.Context(), phone); err == nil || wantsJSON(v.r) && bridge.CodeOf(err) != bridge.CodeInvalid {
		return v.done(err, "", root+"/pair")
	}
	status, err := v.refusal(f, err, pairingFields)
	if err != nil {
		return err
	}
	return v.pairAgain(f, status)
}

// pairAgain shows the page with what was typed, and what is wrong with it.
func (v *visit) pairAgain(f *form, status int) error {
	if wantsJSON(v.r) {
		return v.answerFaults(f)
	}
	return v.showPairWith(status, pairPage{Asked: f.Get("phone"), Typed: f.Get("credential"), Wrong: f.Wrong})
}

// answerPasskey hands in the answer of an authenticator, or confirms the codes.
func (c *Console) answerPasskey(v *visit) error {
	f := v.form()
	if f.Get("confirm") != "" {
		_, err := v.api.ConfirmPasskey(v.r.Context())
		return v.done(err, "", root+"/pair")
	}
	credential := strings.TrimSpace(f.Get("credential"))
	if !json.Valid([]byte(credential)) {
		f.refuse("credential", "Paste everything that the script printed, from the first { to the last }.")
		return v.pairAgain(f, http.StatusBadRequest)
	}
	_, err := v.api.SubmitPasskey(v.r.Context(), json.RawMessage(credential))
	return v.done(err, "", root+"/pair")
}

// quiet is the light zone around a QR code, in modules.
const quiet = 4

// qrSVG draws a QR code: one path, a rectangle for each run of dark modules.
func qrSVG(text string) (template.HTML, error) {
	code, err := qr.Encode(text, qr.L)
	if err != nil {
		return "", fmt.Errorf("encode the QR code: %w", err)
	}
	var path strings.Builder
	for y := range code.Size {
		for x := 0; x < code.Size; x++ {
			start := x
			for x < code.Size && code.Black(x, y) {
				x++
			}
			if x > start {
				fmt.Fprintf(&path, "M%d %dh%dv1h-%dz", start+quiet, y+quiet, x-start, x-start)
			}
		}
	}
	size := code.Size + 2*quiet
	return template.HTML(fmt.Sprintf(`<svg class="qr" viewBox="0 0 %d %d" shape-rendering="crispEdges" role="img" aria-label="QR code"><rect width="%d" height="%d" fill="#fff"/><path fill="#000" d="%s"/></svg>`,
		size, size, size, size, path.String())), nil
}
