package api

import (
	"fmt"
	"net/http"

	"bridged/internal/bridge"
)

const (
	maxChecked    = 50
	maxPhoneInput = 64 // characters of a number as people write it
)

// checkNumbers answers whether the network knows phone numbers, in their order.
func (s *server) checkNumbers(w http.ResponseWriter, r *http.Request) error {
	var body struct {
		Phones []string `json:"phones"`
	}
	if _, err := s.bodies.decodeStrict(w, r, &body); err != nil {
		return err
	}
	if len(body.Phones) < 1 || len(body.Phones) > maxChecked {
		return bridge.Invalid("phones must hold 1 to %d numbers", maxChecked)
	}
	caller := callerOf(r.Context())
	phones := make([]string, len(body.Phones))
	for i, written := range body.Phones {
		phone, err := parsePhone(fmt.Sprintf("phones[%d]", i), written)
		if err != nil {
			return err
		}
		if caller.Chats != nil && !s.reaches(caller, phone) {
			return bridge.NoContact(bridge.PhoneJID(phone))
		}
		phones[i] = phone
	}
	results, err := s.account.CheckNumbers(r.Context(), phones)
	if err != nil {
		return err
	}
	return s.answer(w, r, struct {
		Results []bridge.NumberCheck `json:"results"`
	}{notNull(results)})
}

// parsePhone reads a number as people write it. Its errors name the field.
func parsePhone(field, value string) (string, error) {
	if len(value) > maxPhoneInput {
		return "", bridge.Invalid("%s must have at most %d characters", field, maxPhoneInput)
	}
	phone, err := bridge.ParsePhone(value)
	if err != nil {
		return "", bridge.Invalid("%s %v", field, err)
	}
	return phone, nil
}

// reaches reports whether a number, in any of its spellings, is that of a chat
// that a token is limited to.
func (s *server) reaches(caller bridge.Token, phone string) bool {
	for _, spelling := range append([]string{phone}, bridge.PhoneAliases(phone)...) {
		if s.isAmong(bridge.PhoneJID(spelling), caller.Chats) {
			return true
		}
	}
	return false
}
