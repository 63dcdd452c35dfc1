package console

import (
	"encoding/json"
	"fmt"
	"net/http"
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
	{"json", "JSON: the text in it, or else every field"},
	{"text", "Plain text, exactly as posted"},
}

type hooksPage struct {
	Hooks []hookRow
	Form  hookForm // of a new one
	Known []named
	Curl  string
}

type hookRow struct {
	bridge.Hook
	ChatName string
	Service  string // that posts to it
}

// hookForm holds the fields of a hook.
type hookForm struct {
	Name      string
	Chat      choice
	Template  string
	Own       string // the template that is not shipped
	HasSecret bool
	Wrong     map[string]string
}

func (c *Console) showHooks(v *visit) error { return v.showHooksWith(http.StatusOK, hookForm{}) }

func (v *visit) showHooksWith(status int, shown hookForm) error {
	page := hooksPage{Form: shown, Curl: curl("POST", "/api/hooks", map[string]any{"name": "pushes", "chatJid": "120363025246125486@g.us", "template": "gitea"})}
	hooks, err := v.api.Hooks(v.r.Context())
	if err != nil {
		return err
	}
	for _, hook := range hooks {
		page.Hooks = append(page.Hooks, hookRow{hook, v.named(hook.Chat).Name, serviceOf(hook.Template)})
	}
	if page.Known, err = v.chatsLike(v.r.Context(), "", suggestions); err != nil {
		return err
	}
	return v.showAs(status, "hooks", "Hooks", page)
}

// serviceOf returns what posts to hooks with a template.
func serviceOf(source string) string {
	for _, shipped := range hookTemplates {
		if shipped.Name == source {
			service, _, _ := strings.Cut(shipped.For, ":")
			service, _, _ = strings.Cut(service, ",")
			return service
		}
	}
	return "Your own template"
}

// hookFields names the fields of the API as the page calls them.
var hookFields = map[string]words{"name": {"name", "The name"}, "chatJid": {"chat", "The chat"}, "template": {"own", "The template"}, "secret": {"secret", "The secret"}}

// hookForm reads the form of a hook, as the page shows it and as the API takes it. An own
// template goes before a shipped one, and a secret that is left empty stays as it is.
func (v *visit) hookForm(f *form) (shown hookForm, change client.HookChange, err error) {
	shown = hookForm{Name: f.Get("name"), Template: f.Get("template"), Own: f.Get("own"), Wrong: f.Wrong}
	if strings.TrimSpace(shown.Name) == "" {
		f.refuse("name", "Give the hook a name, so that you recognise it later.")
	}
	if shown.Chat, err = v.chooseOne(f, "chat"); err != nil {
		return shown, change, err
	}
	var chat string
	if len(shown.Chat.Chosen) > 0 {
		chat = string(shown.Chat.Chosen[0].JID)
	} else {
		f.refuse("chat", "Choose the chat that gets the messages.")
	}
	template := shown.Template
	if strings.TrimSpace(shown.Own) != "" {
		template = shown.Own
	}
	return shown, client.HookChange{Name: &shown.Name, ChatJID: &chat, Template: &template, Secret: new(f.Get("secret"))}, nil
}

func (c *Console) createHook(v *visit) error {
	f := v.form()
	shown, change, err := v.hookForm(f)
	if err != nil {
		return err
	}
	if len(f.Wrong) > 0 {
		return v.showHooksWith(http.StatusBadRequest, shown)
	}
	made, err := v.api.CreateHook(v.r.Context(), change)
	if err == nil {
		return v.showMade(made, nil)
	}
	status, err := v.refusal(f, err, hookFields)
	if err != nil {
		return err
	}
	return v.showHooksWith(status, shown)
}

// saveHook carries out the form of a hook, or shows it again with its faults.
func (v *visit) saveHook() error {
	f := v.form()
	shown, change, err := v.hookForm(f)
	if err != nil {
		return err
	}
	status := http.StatusBadRequest
	if len(f.Wrong) == 0 {
		_, err := v.api.UpdateHook(v.r.Context(), v.number, change)
		if err == nil {
			return v.done(nil, "Saved.", fmt.Sprintf("%s/hooks/%d", root, v.number))
		}
		if status, err = v.refusal(f, err, hookFields); err != nil {
			return err
		}
	}
	hook, err := v.api.Hook(v.r.Context(), v.number)
	if err != nil {
		return err
	}
	shown.HasSecret = hook.HasSecret
	return v.showHookWith(status, hookPage{Hook: hook, Form: shown})
}

// showMade shows a hook with its new address.
func (v *visit) showMade(hook client.Hook, err error) error {
	if err != nil {
		return err
	}
	return v.showHookWith(http.StatusOK, hookPage{Hook: hook.Hook, Address: v.addressOf(hook)})
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
	return scheme + v.r.Host + v.c.options.BasePath + hook.Path
}

type hookPage struct {
	Hook     bridge.Hook
	ChatName string
	Form     hookForm
	Known    []named
	Address  string // shown once
	Payload  string
	Event    string
	Tried    bool
	Text     string            // of the message that the payload becomes
	Wrong    map[string]string // in the form of the preview
	Curl     string
}

func (c *Console) showHook(v *visit) error {
	hook, err := v.api.Hook(v.r.Context(), v.number)
	if err != nil {
		return err
	}
	return v.showHookWith(http.StatusOK, hookPage{Hook: hook})
}

func (v *visit) showHookWith(status int, page hookPage) (err error) {
	page.ChatName = v.named(page.Hook.Chat).Name
	if page.Form.Wrong == nil {
		page.Form = hookForm{Name: page.Hook.Name, Chat: v.choiceOf(page.Hook.Chat), Template: page.Hook.Template, HasSecret: page.Hook.HasSecret}
		if !slices.ContainsFunc(hookTemplates, func(t hookTemplate) bool { return t.Name == page.Hook.Template }) {
			page.Form.Own = page.Hook.Template
		}
	}
	page.Curl = curl("POST", fmt.Sprintf("/api/hooks/%d/preview", page.Hook.ID), map[string]any{"payload": map[string]any{"text": "hello"}})
	if page.Known, err = v.chatsLike(v.r.Context(), "", suggestions); err != nil {
		return err
	}
	return v.showAs(status, "hook", "Hook", page)
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
		return v.saveHook()
	case "on":
		return update("Turned on.", client.HookChange{Enabled: new(true)})
	case "off":
		return update("Turned off. Deliveries are refused until you turn it on again.", client.HookChange{Enabled: new(false)})
	case "rotate":
		return v.showMade(v.api.UpdateHook(ctx, v.number, client.HookChange{RotateKey: true}))
	case "preview":
		return v.previewHook()
	case "delete":
		return v.done(v.api.DeleteHook(ctx, v.number), "The hook was deleted.", root+"/hooks")
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
	if err == nil {
		return v.showHookWith(http.StatusOK, page)
	}
	f := v.form()
	status, err := v.refusal(f, err, map[string]words{"headers": {"event", "The event"}, "payload": {"payload", "The payload"}, "template": {"payload", "The template"}})
	if err != nil {
		return err
	}
	page.Wrong, page.Tried = f.Wrong, false
	return v.showHookWith(status, page)
}
