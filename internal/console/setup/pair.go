package setup

import (
	_ "embed"
	"encoding/json"
	"html/template"
	"net/http"
	"strings"

	"bridged/internal/bridge"
	"bridged/internal/console/frame"
	"bridged/internal/console/view"
)

// pairPage links the account: by QR code, by a code to type, or with a passkey.
type pairPage struct {
	Account bridge.Status
	State   view.State
	QR      template.HTML
	Phone   string // the only number that may pair; empty for any
	Asked   string // the typed number
	Typed   string // the answer of an authenticator
	Wrong   map[string]string
	Script  string // asks for the passkey, on WhatsApp's site
	Curl    string
}

// passkeyScript asks for a passkey. It has an empty object in place of the network's request.
//
//go:embed passkey.js
var passkeyScript string

// ShowPair shows the page for linking an account.
func ShowPair(req *frame.Request) error {
	return showPairWith(req, http.StatusOK, pairPage{Asked: req.URL.Query().Get("phone")})
}

func showPairWith(req *frame.Request, status int, page pairPage) (err error) {
	if req.Options.PhoneNumber != "" {
		page.Phone = view.Phone(bridge.PhoneJID(req.Options.PhoneNumber))
	}
	page.Curl = req.Curl("POST", "/api/auth/pair", map[string]string{"phone": "15551234567"})
	if page.Account, err = req.Status(); err != nil {
		return err
	}
	page.State = view.StateOf(page.Account)
	if page.Account.QR != nil {
		if page.QR, err = view.QRCode(*page.Account.QR); err != nil {
			return err
		}
	}
	if p := page.Account.Passkey; p != nil {
		page.Script = strings.Replace(passkeyScript, "{} /* WhatsApp’s request */", string(p.PublicKey), 1)
	}
	return req.ShowAs(status, "pair", "Link an account", page)
}

// pairingFields has the labels of the API's fields.
var pairingFields = map[string]frame.Label{"phone": {Field: "phone", Label: "The number"}}

// Pair starts linking an account.
func Pair(req *frame.Request) error {
	f := req.Filled()
	phone := strings.TrimSpace(f.Get("phone"))
	var err error
	if phone != "" {
		if phone, err = bridge.ParsePhone(phone); err != nil {
			f.Refuse("phone", view.AskNumber)
			return pairAgain(req, f, http.StatusBadRequest)
		}
	}
	if _, err = req.API.Pair(req.Context(), phone); err == nil || req.WantsJSON() && bridge.CodeOf(err) != bridge.CodeInvalid {
		return req.Done(err, "", view.Root+"/pair")
	}
	status, err := req.Refusal(f, err, pairingFields)
	if err != nil {
		return err
	}
	return pairAgain(req, f, status)
}

// pairAgain shows the page again with the typed values and their errors.
func pairAgain(req *frame.Request, f *frame.Form, status int) error {
	if req.WantsJSON() {
		return req.AnswerFaults(f)
	}
	return showPairWith(req, status, pairPage{Asked: f.Get("phone"), Typed: f.Get("credential"), Wrong: f.Wrong})
}

// AnswerPasskey sends the answer of an authenticator, or confirms the codes.
func AnswerPasskey(req *frame.Request) error {
	f := req.Filled()
	if f.Get("confirm") != "" {
		_, err := req.API.ConfirmPasskey(req.Context())
		return req.Done(err, "", view.Root+"/pair")
	}
	credential := strings.TrimSpace(f.Get("credential"))
	if !json.Valid([]byte(credential)) {
		f.Refuse("credential", "Paste the whole answer, from the first { to the last }.")
		return pairAgain(req, f, http.StatusBadRequest)
	}
	_, err := req.API.SubmitPasskey(req.Context(), json.RawMessage(credential))
	return req.Done(err, "", view.Root+"/pair")
}
