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
	Passkey string // the network's request to an authenticator
	Curl    string
}

func (c *Console) showPair(v *visit) (err error) {
	page := pairPage{Phone: c.options.PhoneNumber, Asked: v.r.URL.Query().Get("phone"), Curl: curl("POST", "/api/auth/pair", map[string]string{"phone": "15551234567"})}
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
	return v.show("pair", "Link an account", page)
}

func (c *Console) pair(v *visit) error {
	phone := strings.TrimSpace(v.r.PostForm.Get("phone"))
	if phone != "" {
		digits, err := bridge.ParsePhone(phone)
		if err != nil {
			return problem{http.StatusBadRequest, "This is not a phone number", sentence("the number " + err.Error()), ""}
		}
		phone = digits
	}
	_, err := v.api.Pair(v.r.Context(), phone)
	return v.done(err, "", root+"/pair")
}

// answerPasskey hands in the answer of an authenticator, or confirms the codes.
func (c *Console) answerPasskey(v *visit) error {
	if v.r.PostForm.Get("confirm") != "" {
		_, err := v.api.ConfirmPasskey(v.r.Context())
		return v.done(err, "", root+"/pair")
	}
	credential := strings.TrimSpace(v.r.PostForm.Get("credential"))
	if !json.Valid([]byte(credential)) {
		return problem{http.StatusBadRequest, "This is not the credential", "Paste the whole JSON that the authenticator's page printed.", ""}
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
