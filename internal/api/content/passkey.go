package content

import (
	"encoding/json"

	"bridged/internal/bridge"
)

// PasskeyAnswer is a step of pairing with a passkey: a browser's PublicKeyCredential, or the confirmation that the codes
// are equal.
type PasskeyAnswer struct {
	Confirm  *bool           `json:"confirm"`
	ID       string          `json:"id"`
	Response json.RawMessage `json:"response"`
	// The rest of a credential is passed on as it is.
	RawID      json.RawMessage `json:"rawId"`
	Type       json.RawMessage `json:"type"`
	Attachment json.RawMessage `json:"authenticatorAttachment"`
	Extensions json.RawMessage `json:"clientExtensionResults"`
}

// Check returns an error if the answer is neither of the two.
func (a *PasskeyAnswer) Check() error {
	switch {
	case a.Confirm != nil && !*a.Confirm:
		return bridge.Invalid("confirm must be true; to stop pairing, call POST /api/auth/logout")
	case a.Confirm == nil && (a.ID == "" || len(a.Response) == 0 || a.Response[0] != '{'):
		return bridge.Invalid("the body must be a PublicKeyCredential (with id and response) or {\"confirm\": true}")
	}
	return nil
}
