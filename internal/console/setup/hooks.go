package setup

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"bridged/internal/bridge"
	"bridged/internal/client"
	"bridged/internal/console/frame"
	"bridged/internal/console/names"
	"bridged/internal/console/view"
)

// hookTemplate is a shipped template with its services.
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
	Chat      names.Choice
	Template  string
	Own       string // the template that is not shipped
	HasSecret bool
	Wrong     map[string]string
}

// ShowHooks shows the hooks.
func ShowHooks(req *frame.Request) error { return showHooksWith(req, http.StatusOK, hookForm{}) }

func showHooksWith(req *frame.Request, status int, shown hookForm) error {
	page := hooksPage{Form: shown, Curl: req.Curl("POST", "/api/hooks", map[string]any{"name": "pushes", "chatJid": "120363025246125486@g.us", "template": "gitea"})}
	hooks, err := req.API.Hooks(req.Context())
	if err != nil {
		return err
	}
	for _, hook := range hooks {
		page.Hooks = append(page.Hooks, hookRow{hook, names.EntryFor(req, hook.Chat).Name, serviceOf(hook.Template)})
	}
	return req.ShowAs(status, "hooks", "Hooks", page)
}

// serviceOf returns the service that a template is for.
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

// hookFields has the labels of the API's fields.
var hookFields = map[string]frame.Label{"name": {Field: "name", Label: "The name"}, "chatJid": {Field: "chat", Label: "The chat"}, "template": {Field: "own", Label: "The template"}, "secret": {Field: "secret", Label: "The secret"}}

// readHook reads the form of a hook, for the page and for the API. An own template wins over a
// shipped one; an empty secret leaves the stored one unchanged.
func readHook(req *frame.Request, f *frame.Form) (shown hookForm, change client.HookChange, err error) {
	shown = hookForm{Name: f.Get("name"), Template: f.Get("template"), Own: f.Get("own"), Wrong: f.Wrong}
	if strings.TrimSpace(shown.Name) == "" {
		f.Refuse("name", "Give the hook a name, so that you recognise it later.")
	}
	if shown.Chat, err = names.ChooseOne(req, f, "chat"); err != nil {
		return shown, change, err
	}
	var chat string
	if len(shown.Chat.Chosen) > 0 {
		chat = string(shown.Chat.Chosen[0].JID)
	} else {
		f.Refuse("chat", "Choose the chat that gets the messages.")
	}
	template := shown.Template
	if strings.TrimSpace(shown.Own) != "" {
		template = shown.Own
	}
	return shown, client.HookChange{Name: &shown.Name, ChatJID: &chat, Template: &template, Secret: new(f.Get("secret"))}, nil
}

// CreateHook creates a hook and shows its address.
func CreateHook(req *frame.Request) error {
	f := req.Filled()
	shown, change, err := readHook(req, f)
	if err != nil {
		return err
	}
	if len(f.Wrong) > 0 {
		return showHooksWith(req, http.StatusBadRequest, shown)
	}
	made, err := req.API.CreateHook(req.Context(), change)
	if err == nil {
		return showMade(req, made, nil)
	}
	status, err := req.Refusal(f, err, hookFields)
	if err != nil {
		return err
	}
	return showHooksWith(req, status, shown)
}

// saveHook saves the form of a hook, or shows it again with its errors.
func saveHook(req *frame.Request) error {
	f := req.Filled()
	shown, change, err := readHook(req, f)
	if err != nil {
		return err
	}
	status := http.StatusBadRequest
	if len(f.Wrong) == 0 {
		_, err := req.API.UpdateHook(req.Context(), req.Number, change)
		if err == nil {
			return req.Done(nil, "Saved", fmt.Sprintf("%s/hooks/%d", view.Root, req.Number))
		}
		if status, err = req.Refusal(f, err, hookFields); err != nil {
			return err
		}
	}
	hook, err := req.API.Hook(req.Context(), req.Number)
	if err != nil {
		return err
	}
	shown.HasSecret = hook.HasSecret
	return showHookWith(req, status, hookPage{Hook: hook, Form: shown})
}

// showMade shows a hook and its new address.
func showMade(req *frame.Request, hook client.Hook, err error) error {
	if err != nil {
		return err
	}
	return req.ShowOnce(fmt.Sprintf("%s/hooks/%d", view.Root, hook.ID), hook)
}

// addressOf returns the address of a new hook, under PUBLIC_URL or under the visitor's host.
func addressOf(req *frame.Request, hook client.Hook) string {
	if len(req.Options.PublicURLs) > 0 {
		return hook.URL
	}
	scheme := "http://"
	if req.IsSecure() {
		scheme = "https://"
	}
	return scheme + req.Host + req.Options.BasePath + hook.Path
}

type hookPage struct {
	Hook     bridge.Hook
	ChatName string
	Form     hookForm
	Address  string // shown once
	Payload  string
	Event    string
	Tried    bool
	Text     string            // of the message that the payload becomes
	Wrong    map[string]string // in the form of the preview
	Curl     string
}

// ShowHook shows a hook.
func ShowHook(req *frame.Request) error {
	hook, err := req.API.Hook(req.Context(), req.Number)
	if err != nil {
		return err
	}
	page := hookPage{Hook: hook}
	if made := frame.Result[client.Hook](req); made.Path != "" {
		page.Address = addressOf(req, made)
	}
	return showHookWith(req, http.StatusOK, page)
}

func showHookWith(req *frame.Request, status int, page hookPage) (err error) {
	page.ChatName = names.EntryFor(req, page.Hook.Chat).Name
	if page.Form.Wrong == nil {
		page.Form = hookForm{Name: page.Hook.Name, Chat: names.ChoiceOf(req, page.Hook.Chat), Template: page.Hook.Template, HasSecret: page.Hook.HasSecret}
		if !slices.ContainsFunc(hookTemplates, func(t hookTemplate) bool { return t.Name == page.Hook.Template }) {
			page.Form.Own = page.Hook.Template
		}
	}
	page.Curl = req.Curl("POST", fmt.Sprintf("/api/hooks/%d/preview", page.Hook.ID), map[string]any{"payload": map[string]any{"text": "hello"}})
	return req.ShowAs(status, "hook", "Hook", page)
}

// ChangeHook runs the action of a button.
func ChangeHook(req *frame.Request) error {
	ctx := req.Context()
	update := func(text string, change client.HookChange) error {
		_, err := req.API.UpdateHook(ctx, req.Number, change)
		return req.Done(err, text, fmt.Sprintf("%s/hooks/%d", view.Root, req.Number))
	}
	switch req.PostForm.Get("do") {
	case "save":
		return saveHook(req)
	case "on":
		return update("Turned on.", client.HookChange{Enabled: new(true)})
	case "off":
		return update("Turned off. Deliveries are refused until you turn it on again.", client.HookChange{Enabled: new(false)})
	case "rotate":
		hook, err := req.API.UpdateHook(ctx, req.Number, client.HookChange{RotateKey: true})
		return showMade(req, hook, err)
	case "preview":
		return previewHook(req)
	case "delete":
		return req.Done(req.API.DeleteHook(ctx, req.Number), "Hook deleted", view.Root+"/hooks")
	}
	return frame.ErrOutdated
}

// previewHook shows the message of a payload. A payload that is not JSON is text.
func previewHook(req *frame.Request) error {
	page := hookPage{Payload: req.PostForm.Get("payload"), Event: strings.TrimSpace(req.PostForm.Get("event")), Tried: true}
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
	if page.Hook, err = req.API.Hook(req.Context(), req.Number); err != nil {
		return err
	}
	page.Text, err = req.API.PreviewHook(req.Context(), req.Number, payload, headers)
	if err == nil {
		return showHookWith(req, http.StatusOK, page)
	}
	f := req.Filled()
	status, err := req.Refusal(f, err, map[string]frame.Label{"headers": {Field: "event", Label: "The event"}, "payload": {Field: "payload", Label: "The payload"}, "template": {Field: "payload", Label: "The template"}})
	if err != nil {
		return err
	}
	page.Wrong, page.Tried = f.Wrong, false
	return showHookWith(req, status, page)
}
