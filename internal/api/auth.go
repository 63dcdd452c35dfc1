package api

import (
	"context"
	"strings"
	"time"

	"bridged/internal/api/content"
	"bridged/internal/api/front"
	"bridged/internal/bridge"
)

// logoutTimeout bounds a logout. It outlives its caller, so that no session remains half wiped.
const logoutTimeout = time.Minute

func getStatus(in *input) (any, error) {
	status := in.Account.Status()
	in.Account.WakePairing()
	return status, nil
}

// requestPairingCode answers with a pairing code for PHONE_NUMBER, or for the number in the body.
func requestPairingCode(in *input) (any, error) {
	var req struct {
		Phone string `json:"phone"`
	}
	in.body(&req, front.JSON{Optional: true})
	phone, err := in.phoneToPair(req.Phone)
	if keep(in, phone, err); in.err != nil {
		return nil, in.err
	}
	return in.Account.Pair(in.ctx(), phone)
}

func (s *server) phoneToPair(asked string) (string, error) {
	asked = strings.TrimSpace(asked)
	switch {
	case asked == "" && s.PhoneNumber == "":
		return "", bridge.Invalid("no phone number: set PHONE_NUMBER, or name it in the body as {\"phone\": \"15551234567\"}")
	case asked == "":
		return s.PhoneNumber, nil
	}
	phone, err := bridge.ParsePhone(asked)
	if err != nil {
		return "", bridge.Invalid("phone %v", err)
	}
	if s.PhoneNumber != "" && !bridge.SamePhone(phone, s.PhoneNumber) {
		return "", bridge.Invalid("phone differs from PHONE_NUMBER, the only account that may pair")
	}
	return phone, nil
}

// answerPasskey receives the credential of a passkey, and then the confirmation that the codes are equal.
func answerPasskey(in *input) (any, error) {
	var answer content.PasskeyAnswer
	body := in.body(&answer, lenient)
	if in.err == nil {
		in.err = answer.Check()
	}
	switch {
	case in.err != nil:
		return nil, in.err
	case answer.Confirm != nil:
		return in.Account.ConfirmPasskey(in.ctx())
	}
	return in.Account.SubmitPasskey(in.ctx(), body)
}

func reconnect(in *input) (any, error) {
	return done{true}, in.Account.Reconnect(in.ctx())
}

// confirmed returns an error unless the caller has confirmed what a call erases.
func (q *input) confirmed(what string) error {
	if q.r.Header.Get("X-Confirm-Wipe") != "yes" {
		return bridge.Invalid("%s; confirm it with the header X-Confirm-Wipe: yes", what)
	}
	return nil
}

func logout(in *input) (any, error) {
	if err := in.confirmed("logout wipes the session"); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(in.ctx()), logoutTimeout)
	defer cancel()
	unlinked, err := in.Account.Logout(ctx)
	return struct {
		OK       bool `json:"ok"`
		Unlinked bool `json:"unlinked"`
	}{true, unlinked}, err
}
