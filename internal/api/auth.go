package api

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"bridged/internal/bridge"
)

// logoutTimeout bounds a logout, which outlives its caller, because a session
// must not be left half wiped.
const logoutTimeout = time.Minute

func (s *server) getStatus(w http.ResponseWriter, r *http.Request) error {
	status := s.account.Status()
	s.account.WakePairing()
	return s.answer(w, r, status)
}

// requestPairingCode answers a pairing code. The document gives the route no
// body, so the number is configuration; where it is not set, a body names it.
func (s *server) requestPairingCode(w http.ResponseWriter, r *http.Request) error {
	var req struct {
		Phone string `json:"phone"`
	}
	if err := s.bodies.decodeOptional(w, r, &req); err != nil {
		return err
	}
	phone, err := s.phoneToPair(req.Phone)
	if err != nil {
		return err
	}
	code, err := s.account.Pair(r.Context(), phone)
	if err != nil {
		return err
	}
	return s.answer(w, r, code)
}

// phoneToPair returns the number to pair: the configured one, or the one asked
// for where none is configured.
func (s *server) phoneToPair(asked string) (string, error) {
	asked = strings.TrimSpace(asked)
	switch {
	case asked == "" && s.phone == "":
		return "", bridge.Invalid("no phone number: set PHONE_NUMBER, or name it in the body as {\"phone\": \"15551234567\"}")
	case asked == "":
		return s.phone, nil
	}
	phone, err := bridge.ParsePhone(asked)
	if err != nil {
		return "", bridge.Invalid("phone %v", err)
	}
	if s.phone != "" && !bridge.SamePhone(phone, s.phone) {
		return "", bridge.Invalid("phone differs from PHONE_NUMBER, the only account that may pair")
	}
	return phone, nil
}

// answerPasskey takes the two steps of pairing with a passkey: the credential,
// and the confirmation that a person has compared the two codes.
func (s *server) answerPasskey(w http.ResponseWriter, r *http.Request) error {
	var req struct {
		Confirm  *bool           `json:"confirm"`
		ID       string          `json:"id"`
		Response json.RawMessage `json:"response"`
	}
	body, err := s.bodies.decode(w, r, &req)
	if err != nil {
		return err
	}
	var result bridge.PasskeyResult
	switch {
	case req.Confirm != nil && !*req.Confirm:
		return bridge.Invalid("confirm must be true; to stop pairing, call POST /api/auth/logout")
	case req.Confirm != nil:
		result, err = s.account.ConfirmPasskey(r.Context())
	case req.ID == "" || len(req.Response) == 0 || req.Response[0] != '{':
		return bridge.Invalid("the body must be a PublicKeyCredential (with id and response) or {\"confirm\": true}")
	default:
		result, err = s.account.SubmitPasskey(r.Context(), body)
	}
	if err != nil {
		return err
	}
	return s.answer(w, r, result)
}

func (s *server) reconnect(w http.ResponseWriter, r *http.Request) error {
	if err := s.account.Reconnect(r.Context()); err != nil {
		return err
	}
	return s.answer(w, r, struct {
		OK bool `json:"ok"`
	}{true})
}

func (s *server) logout(w http.ResponseWriter, r *http.Request) error {
	if r.Header.Get("X-Confirm-Wipe") != "yes" {
		return bridge.Invalid("logout wipes the session; confirm it with the header X-Confirm-Wipe: yes")
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), logoutTimeout)
	defer cancel()
	unlinked, err := s.account.Logout(ctx)
	if err != nil {
		return err
	}
	return s.answer(w, r, struct {
		OK       bool `json:"ok"`
		Unlinked bool `json:"unlinked"`
	}{true, unlinked})
}
