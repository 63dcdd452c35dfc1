package api

import (
	"encoding/json"
	"strings"
	"unicode"
	"unicode/utf8"

	"bridged/internal/bridge"
	"bridged/internal/hooks"
)

const (
	maxHookName   = 100 // characters
	maxHookSecret = 256
)

// hookRequest is the body that makes or changes a hook. Fields that are left out
// stay as they are; a secret of null is none.
type hookRequest struct {
	Name      *string         `json:"name"`
	ChatJID   *string         `json:"chatJid"`
	Template  *string         `json:"template"`
	Secret    json.RawMessage `json:"secret"`
	Enabled   *bool           `json:"enabled"`
	RotateKey bool            `json:"rotateKey"`
}

// apply sets what a request names.
func (req hookRequest) apply(hook *bridge.Hook) error {
	if req.Name != nil {
		hook.Name = strings.TrimSpace(*req.Name)
	}
	if hook.Name == "" || utf8.RuneCountInString(hook.Name) > maxHookName || strings.ContainsFunc(hook.Name, unicode.IsControl) {
		return bridge.Invalid("name is required: 1 to %d characters that say what the hook is for", maxHookName)
	}
	if req.ChatJID != nil || hook.Chat == "" {
		given := ""
		if req.ChatJID != nil {
			given = *req.ChatJID
		}
		chat, err := parseDestination("chatJid", given)
		if err != nil {
			return err
		}
		hook.Chat = chat
	}
	if req.Template != nil {
		hook.Template = *req.Template
	}
	if _, err := hooks.Parse(hook.Template); err != nil {
		return err
	}
	if req.Enabled != nil {
		hook.Enabled = *req.Enabled
	}
	return req.applySecret(hook)
}

// applySecret sets or removes the secret. An empty one is one left out, as forms
// send it.
func (req hookRequest) applySecret(hook *bridge.Hook) error {
	if req.Secret == nil {
		return nil
	}
	var secret *string
	if err := json.Unmarshal(req.Secret, &secret); err != nil {
		return bridge.Invalid("secret must be a string or null")
	}
	switch {
	case secret == nil:
		hook.Secret = ""
	case utf8.RuneCountInString(*secret) > maxHookSecret || strings.ContainsFunc(*secret, unicode.IsControl):
		return bridge.Invalid("secret must have at most %d characters, without control characters", maxHookSecret)
	case *secret != "":
		hook.Secret = *secret
	}
	return nil
}
