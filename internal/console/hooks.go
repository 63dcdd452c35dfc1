package console

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"bridged/internal/bridge"
	"bridged/internal/client"
)

// hookTemplate is a template that is shipped, with its services.
type hookTemplate struct{ Name, For string }

var hookTemplates = []hookTemplate{
	{"gitea", "Gitea and Forgejo"},
	{"github", "GitHub"},
	{"alertmanager", "Alertmanager"},
	{"grafana", "Grafana"},
	{"uptime-kuma", "Uptime Kuma"},
	{"json", "JSON: its text, or all its fields"},
	{"text", "Text, as it is posted"},
}

func (c *Console) showHooks(v *visit) error {
	hooks, err := v.api.Hooks(v.r.Context())
	if err != nil {
		return err
	}
	return v.show("hooks", "Hooks", struct {
		Hooks []bridge.Hook
		Curl  string
	}{hooks, curl("POST", "/api/hooks", map[string]any{"name": "pushes", "chatJid": "120363025246125486@g.us", "template": "gitea"})})
}

// hookForm reads the form of a hook. An own template goes before a shipped one,
// and a secret that is left empty stays as it is.
func (v *visit) hookForm() client.HookChange {
	form := v.r.PostForm
	template := form.Get("template")
	if own := form.Get("own"); strings.TrimSpace(own) != "" {
		template = own
	}
	return client.HookChange{
		Name: new(form.Get("name")), ChatJID: new(strings.TrimSpace(form.Get("chat"))), Template: &template, Secret: new(form.Get("secret")),
	}
}

func (c *Console) createHook(v *visit) error {
	return v.showMade(v.api.CreateHook(v.r.Context(), v.hookForm()))
}

// showMade shows a hook with its new address.
func (v *visit) showMade(hook client.Hook, err error) error {
	return v.showHookWith(hookPage{Hook: hook.Hook, Address: v.addressOf(hook)}, err)
}

// addressOf returns the address of a new hook, under PUBLIC_URL or as the visitor came.
func (v *visit) addressOf(hook client.Hook) string {
	if len(v.c.options.PublicURLs) > 0 {
		return hook.URL
	}
	scheme := "http://"
	if v.c.isSecure(v.r) {
		scheme = "https://"
	}
	return scheme + v.r.Host + hook.Path
}

type hookPage struct {
	Hook    bridge.Hook
	Own     string // the template that is not shipped
	Address string // shown once
	Payload string
	Event   string
	Tried   bool
	Text    string // of the message that the payload becomes
	Curl    string
}

func (c *Console) showHook(v *visit) error {
	hook, err := v.api.Hook(v.r.Context(), v.number)
	return v.showHookWith(hookPage{Hook: hook}, err)
}

func (v *visit) showHookWith(page hookPage, err error) error {
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(hookTemplates, func(t hookTemplate) bool { return t.Name == page.Hook.Template }) {
		page.Own = page.Hook.Template
	}
	page.Curl = curl("POST", fmt.Sprintf("/api/hooks/%d/preview", page.Hook.ID), map[string]any{"payload": map[string]any{"text": "hello"}})
	return v.show("hook", "Hook", page)
}

// changeHook carries out the button of a hook's page.
func (c *Console) changeHook(v *visit) error {
	ctx := v.r.Context()
	update := func(text string, change client.HookChange) error {
		_, err := v.api.UpdateHook(ctx, v.number, change)
		return v.done(err, text, fmt.Sprintf("%s/hooks/%d", root, v.number))
	}
	switch v.r.PostForm.Get("do") {
	case "save":
		return update("Saved.", v.hookForm())
	case "on":
		return update("Switched on.", client.HookChange{Enabled: new(true)})
	case "off":
		return update("Switched off: deliveries are refused until it is on again.", client.HookChange{Enabled: new(false)})
	case "rotate":
		return v.showMade(v.api.UpdateHook(ctx, v.number, client.HookChange{RotateKey: true}))
	case "preview":
		return v.previewHook()
	case "delete":
		return v.done(v.api.DeleteHook(ctx, v.number), "The hook is removed.", root+"/hooks")
	}
	return errOutdated
}

// previewHook shows the message of a payload. One that is not JSON is text.
func (v *visit) previewHook() error {
	page := hookPage{Payload: v.r.PostForm.Get("payload"), Event: strings.TrimSpace(v.r.PostForm.Get("event")), Tried: true}
	payload := json.RawMessage(page.Payload)
	var err error
	if !json.Valid(payload) {
		if payload, err = json.Marshal(page.Payload); err != nil {
			return err
		}
	}
	headers := map[string]string{}
	if page.Event != "" {
		headers["X-Gitea-Event"] = page.Event // GitHub's template reads it, too
	}
	if page.Hook, err = v.api.Hook(v.r.Context(), v.number); err != nil {
		return err
	}
	page.Text, err = v.api.PreviewHook(v.r.Context(), v.number, payload, headers)
	return v.showHookWith(page, err)
}
