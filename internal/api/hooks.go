package api

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"unicode"
	"unicode/utf8"

	"bridged/internal/api/callers"
	"bridged/internal/api/content"
	"bridged/internal/bridge"
	"bridged/internal/hooks"
)

var hookQuota = callers.Quota{Things: "hooks", All: 500, Tree: 50, Created: 375, Remedy: "remove some"}

// withAddress is a hook with its address, which is only shown once.
type withAddress struct {
	bridge.Hook
	URL  string `json:"url"`
	Path string `json:"path"`
}

func listHooks(in *input) (any, error) {
	all, err := in.hooks.Own(in.ctx())
	return struct {
		Count int           `json:"count"`
		Hooks []bridge.Hook `json:"hooks"`
	}{len(all), all}, err
}

func pathHook(in *input) (bridge.Hook, error) {
	return pathOwn(in, "hook", in.hooks.Own, func(hook bridge.Hook) int64 { return hook.ID })
}

func createHook(in *input) (any, error) {
	var req hookRequest
	in.body(&req, strict)
	if req.RotateKey {
		in.refuse("rotateKey is for existing hooks only; a new one gets a new key anyway")
	}
	hook := bridge.Hook{Enabled: true, Token: in.caller().ID}
	if in.err == nil {
		in.err = req.apply(&hook)
	}
	if in.err == nil {
		in.err = in.see(in.ctx(), hook.Chat)
	}
	if in.err != nil {
		return nil, in.err
	}
	key, hash := callers.NewHookKey()
	hook.KeyHash = hash
	hook, err := in.hooks.Add(in.ctx(), in.Store.AddHook, hook)
	return created{in.withAddress(in.r, hook, key)}, err
}

// withAddress returns a hook with its address, on PUBLIC_URL or the caller's host.
func (s *server) withAddress(r *http.Request, hook bridge.Hook, key string) withAddress {
	base := s.PublicURL
	if base == "" {
		base = "http://" + r.Host + s.BasePath
	}
	path := fmt.Sprint(callers.HookRoot, hook.ID, ".", key)
	return withAddress{hook, strings.TrimSuffix(base, "/") + path, path}
}

func getHook(in *input) (any, error) { return pathHook(in) }

func updateHook(in *input) (any, error) {
	hook, err := pathHook(in)
	if err != nil {
		return nil, err
	}
	var req hookRequest
	if in.body(&req, strict); in.err != nil {
		return nil, in.err
	}
	key, hash := callers.NewHookKey()
	maker, err := in.tokens.ByID(in.ctx(), hook.Token)
	if err != nil {
		return nil, err
	}
	hook, err = in.Store.ChangeHook(in.ctx(), hook.ID, func(hook *bridge.Hook) error {
		if req.RotateKey {
			hook.KeyHash = hash
		}
		if err := req.apply(hook); err != nil {
			return err
		}
		if maker != nil && maker.Chats != nil && !in.isAmong(hook.Chat, maker.Chats) { // a hook may not do more than its creator
			return bridge.NoChat(hook.Chat)
		}
		return nil
	})
	if req.RotateKey {
		return in.withAddress(in.r, hook, key), err
	}
	return hook, err
}

func deleteHook(in *input) (any, error) {
	hook, err := pathHook(in)
	if err != nil {
		return nil, err
	}
	return done{true}, in.Store.RemoveHook(in.ctx(), hook.ID)
}

// previewHook renders a payload without sending anything.
func previewHook(in *input) (any, error) {
	hook, err := pathHook(in)
	if err != nil {
		return nil, err
	}
	var req struct {
		Payload json.RawMessage   `json:"payload"`
		Headers map[string]string `json:"headers"`
	}
	in.body(&req, strict)
	if req.Payload == nil {
		in.refuse("payload is required: what the service posts, as JSON")
	}
	if in.err != nil {
		return nil, in.err
	}
	template, err := hooks.Parse(hook.Template)
	if err != nil {
		return nil, err
	}
	payload, err := hooks.JSONPayload(req.Payload)
	if err != nil {
		return nil, err
	}
	header := make(http.Header, len(req.Headers))
	for name, value := range req.Headers {
		header.Set(name, value)
	}
	if err := template.Needs(header); err != nil {
		return nil, err
	}
	if err := in.previews.Take(in.caller().Tree, in.Now()); err != nil {
		return nil, err
	}
	text, err := in.templates.Render(in.ctx(), template, payload, header)
	return struct {
		Text string `json:"text"`
	}{text}, err
}

const maxHookSecret = 256 // characters

// hookRequest creates or changes a hook. Omitted fields do not change; null removes the secret.
type hookRequest struct {
	Name      *string         `json:"name"`
	ChatJID   *string         `json:"chatJid"`
	Template  *string         `json:"template"`
	Secret    json.RawMessage `json:"secret"`
	Enabled   *bool           `json:"enabled"`
	RotateKey bool            `json:"rotateKey"`
}

// apply sets the fields that the request has.
func (req hookRequest) apply(hook *bridge.Hook) error {
	if req.Name != nil {
		hook.Name = strings.TrimSpace(*req.Name)
	}
	if err := content.CheckName(hook.Name, "hook"); err != nil {
		return err
	}
	if given := string(hook.Chat); req.ChatJID != nil || given == "" {
		var err error
		set(&given, req.ChatJID)
		if hook.Chat, err = content.ParseDestination("chatJid", given); err != nil {
			return err
		}
	}
	set(&hook.Template, req.Template)
	if _, err := hooks.Parse(hook.Template); err != nil {
		return err
	}
	set(&hook.Enabled, req.Enabled)
	return req.applySecret(hook)
}

// applySecret sets or removes the secret. An empty one counts as omitted.
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
