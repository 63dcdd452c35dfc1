package console

import (
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"bridged/internal/bridge"
	"bridged/internal/client"
)

// hookTemplate is a template that is shipped, with what it is for.
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

// hooksPage lists all hooks, with a form for another one.
type hooksPage struct {
	Hooks     []bridge.Hook
	Templates any
	Curl      string
}

// showHooks answers the list of hooks.
func (c *Console) showHooks(v *visit) (err error) {
	page := hooksPage{Templates: hookTemplates, Curl: curlPost("/api/hooks", map[string]any{"name": "pushes", "chatJid": "120363025246125486@g.us", "template": "gitea"})}
	if page.Hooks, err = v.api.Hooks(v.r.Context()); err != nil {
		return err
	}
	v.show(http.StatusOK, "hooks", "Hooks", page)
	return nil
}

// hookForm reads the form of a hook. An own template goes before a shipped one,
// and a secret that is left empty stays as it is.
func (v *visit) hookForm() client.HookChange {
	form := v.r.PostForm
	name, chat, template, secret := form.Get("name"), strings.TrimSpace(form.Get("chat")), form.Get("template"), form.Get("secret")
	if own := form.Get("own"); strings.TrimSpace(own) != "" {
		template = own
	}
	return client.HookChange{Name: &name, ChatJID: &chat, Template: &template, Secret: &secret}
}

// createHook makes a hook, and shows its address once.
func (c *Console) createHook(v *visit) error {
	hook, err := v.api.CreateHook(v.r.Context(), v.hookForm())
	if err != nil {
		return err
	}
	v.showHookWith(hookPage{Hook: hook.Hook, Address: v.addressOf(hook)})
	return nil
}

// addressOf returns the address of a new hook: as PUBLIC_URL names the bridge, and
// without it as the visitor reaches it.
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

// hookPage is one hook, and perhaps what a payload becomes.
type hookPage struct {
	Hook      bridge.Hook
	Templates any
	Own       string // the template that is not shipped
	Address   string // shown once
	Payload   string
	Event     string
	Tried     bool
	Text      string // what the payload becomes
	Curl      string
}

func hookPath(id int64) string { return root + "/hooks/" + strconv.FormatInt(id, 10) }

// showHook answers one hook.
func (c *Console) showHook(v *visit) error {
	hook, err := v.hook()
	if err != nil {
		return err
	}
	v.showHookWith(hookPage{Hook: hook})
	return nil
}

// hook returns the hook that the path names.
func (v *visit) hook() (bridge.Hook, error) {
	id, err := v.number("id")
	if err != nil {
		return bridge.Hook{}, err
	}
	return v.api.Hook(v.r.Context(), id)
}

func (v *visit) showHookWith(page hookPage) {
	page.Templates = hookTemplates
	if !slices.ContainsFunc(hookTemplates, func(t hookTemplate) bool { return t.Name == page.Hook.Template }) {
		page.Own = page.Hook.Template
	}
	page.Curl = curlPost("/api/hooks/"+strconv.FormatInt(page.Hook.ID, 10)+"/preview", map[string]any{"payload": map[string]any{"text": "hello"}})
	v.show(http.StatusOK, "hook", "Hook", page)
}

// changeHook does what a button of a hook's page says.
func (c *Console) changeHook(v *visit) error {
	hook, err := v.hook()
	if err != nil {
		return err
	}
	update := func(text string, change client.HookChange) error {
		_, err := v.api.UpdateHook(v.r.Context(), hook.ID, change)
		return v.after(err, text, hookPath(hook.ID))
	}
	on, off := true, false
	switch v.r.PostForm.Get("do") {
	case "save":
		return update("Saved.", v.hookForm())
	case "on":
		return update("Switched on.", client.HookChange{Enabled: &on})
	case "off":
		return update("Switched off: what is posted is refused until it is on again.", client.HookChange{Enabled: &off})
	case "rotate":
		made, err := v.api.UpdateHook(v.r.Context(), hook.ID, client.HookChange{RotateKey: true})
		if err != nil {
			return err
		}
		v.showHookWith(hookPage{Hook: made.Hook, Address: v.addressOf(made)})
		return nil
	case "preview":
		return v.previewHook(hook)
	case "delete":
		return v.after(v.api.DeleteHook(v.r.Context(), hook.ID), "The hook is removed.", root+"/hooks")
	}
	return errOutdated
}

// previewHook shows what a payload would become. What is not JSON is text.
func (v *visit) previewHook(hook bridge.Hook) error {
	page := hookPage{Hook: hook, Payload: v.r.PostForm.Get("payload"), Event: strings.TrimSpace(v.r.PostForm.Get("event")), Tried: true}
	payload := json.RawMessage(page.Payload)
	if !json.Valid(payload) {
		var err error
		if payload, err = json.Marshal(page.Payload); err != nil {
			return err
		}
	}
	headers := map[string]string{}
	if page.Event != "" {
		headers["X-Gitea-Event"] = page.Event // which GitHub's template reads, too
	}
	var err error
	if page.Text, err = v.api.PreviewHook(v.r.Context(), hook.ID, payload, headers); err != nil {
		return err
	}
	v.showHookWith(page)
	return nil
}
