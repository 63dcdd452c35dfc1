package api

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

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
	var req content.HookChange
	in.body(&req, strict)
	if req.RotateKey {
		in.refuse("rotateKey is for existing hooks only; a new one gets a new key anyway")
	}
	hook := bridge.Hook{Enabled: true, Token: in.caller().ID}
	if in.err == nil {
		in.err = req.Apply(&hook)
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
	var req content.HookChange
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
		if err := req.Apply(hook); err != nil {
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
