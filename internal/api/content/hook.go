package content

import (
	"encoding/json"
	"maps"
	"strings"
	"unicode"
	"unicode/utf8"

	"bridged/internal/bridge"
	"bridged/internal/hooks"
)

const maxHookSecret = 256 // characters

// HookChange creates or changes a hook. Omitted fields do not change; null removes the secret.
type HookChange struct {
	Name      *string         `json:"name"`
	ChatJID   *string         `json:"chatJid"`
	Template  *string         `json:"template"`
	Secret    json.RawMessage `json:"secret"`
	Enabled   *bool           `json:"enabled"`
	RotateKey bool            `json:"rotateKey"`
}

// Apply sets the fields that the request has.
func (req HookChange) Apply(hook *bridge.Hook) error {
	if req.Name != nil {
		hook.Name = strings.TrimSpace(*req.Name)
	}
	if err := CheckName(hook.Name, "hook"); err != nil {
		return err
	}
	if given := string(hook.Chat); req.ChatJID != nil || given == "" {
		var err error
		bridge.SetIf(&given, req.ChatJID)
		if hook.Chat, err = ParseDestination("chatJid", given); err != nil {
			return err
		}
	}
	bridge.SetIf(&hook.Template, req.Template)
	if _, err := hooks.Parse(hook.Template); err != nil {
		return err
	}
	bridge.SetIf(&hook.Enabled, req.Enabled)
	return req.applySecret(hook)
}

// applySecret sets or removes the secret. An empty one counts as omitted.
func (req HookChange) applySecret(hook *bridge.Hook) error {
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

// WebhookChange is a body that creates or changes a webhook. DryRun only checks whether this
// would be refused. A field that is omitted or null has its default or does not change, except
// that a fromMe of null means any.
type WebhookChange struct {
	URL          *string          `json:"url"`
	Types        *[]string        `json:"types"`
	Chats        *[]string        `json:"chats"`
	ExcludeChats *[]string        `json:"excludeChats"`
	ChatType     *bridge.ChatType `json:"chatType"`
	FromMe       json.RawMessage  `json:"fromMe"`
	Chat         *string          `json:"chat"` // the only one of chats

	Format  *bridge.WebhookFormat `json:"format"`
	Options *bridge.FormatOptions `json:"formatOptions"`

	AllowPrivate *bool           `json:"allowPrivate"`
	Enabled      *bool           `json:"enabled"`
	Secret       *string         `json:"secret"`
	NewSecret    bool            `json:"rotateSecret"`
	After        json.RawMessage `json:"after"`
	DryRun       bool            `json:"dryRun"`
}

// Moves reports whether the request may change where a webhook posts, or in which form.
func (req WebhookChange) Moves() bool {
	return req.URL != nil || req.AllowPrivate != nil || req.Format != nil || req.Options != nil
}

// Leaks reports whether the request would post secrets that the API does not show to another
// address.
func (req WebhookChange) Leaks(present bridge.Webhook) bool {
	if req.URL == nil || *req.URL == present.URL {
		return false
	}
	after, shown := present.Options, bridge.FormatOptions{}
	if req.Options != nil {
		after, shown = req.Options.WithSecretsOf(present.Options), *req.Options
	}
	return after.VerifyToken != shown.VerifyToken || !maps.Equal(after.Headers, shown.Headers)
}
