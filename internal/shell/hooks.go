package shell

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"bridged/internal/bridge"
	"bridged/internal/client"
)

const listHooks = "bridged hooks list"

// Hooks prints the incoming webhooks.
func (s *Shell) Hooks(ctx context.Context) error {
	hooks, err := s.API.Hooks(ctx)
	if err != nil {
		return err
	}
	columns := []column{{title: "ID"}, {title: "NAME", most: 28, flexible: true}, {title: "CHAT"}, {title: "TEMPLATE", most: 28, flexible: true}, {title: "SIGNED"}, {title: "ENABLED"}, {title: "LAST"}}
	return list(s, all(hooks), 0, "There are no hooks. Create one with: bridged hooks create NAME", columns, func(h bridge.Hook) []string {
		return []string{
			strconv.FormatInt(h.ID, 10), h.Name, string(h.Chat), h.Template, yesOrNo(h.HasSecret), yesOrNo(h.Enabled), cmp.Or(s.when(h.LastDeliveryAt), "-"),
		}
	})
}

// Hook prints one incoming webhook.
func (s *Shell) Hook(ctx context.Context, id string) error {
	number, err := parseID("<id>", id)
	if err != nil {
		return err
	}
	h, err := s.API.Hook(ctx, number)
	switch {
	case err != nil:
		return listHint(err, listHooks)
	case s.JSON:
		return s.printJSON(h)
	}
	return s.properties([][2]string{
		{"Id", strconv.FormatInt(h.ID, 10)},
		{"Name", h.Name},
		{"Chat", string(h.Chat)},
		{"Template", h.Template},
		{"Signed", yesOrNo(h.HasSecret)},
		{"Enabled", yesOrNo(h.Enabled)},
		{"Last", s.when(h.LastDeliveryAt)},
		{"Failed", s.when(h.LastFailedAt)},
		{"Last error", *cmp.Or(h.LastError, new(""))},
		{"Created", s.when(&h.CreatedAt)},
	})
}

// HookSettings sets fields of an incoming webhook, in addition to the ones of Change. Empty fields stay
// unchanged.
type HookSettings struct {
	Change     client.HookChange
	Chat       string
	Template   string // the name of a template, its source, or @ and the path of a file with the source
	SecretFile string
}

func (s *Shell) hookChange(ctx context.Context, h HookSettings) (change client.HookChange, err error) {
	change = h.Change
	if h.Chat != "" {
		chat, err := s.find(ctx, h.Chat)
		if err != nil {
			return change, err
		}
		change.ChatJID = new(string(chat))
	}
	if path, isFile := strings.CutPrefix(h.Template, "@"); isFile {
		source, err := os.ReadFile(path)
		if err != nil {
			return change, &fileError{err}
		}
		change.Template = new(string(source))
	} else if h.Template != "" {
		change.Template = &h.Template
	}
	if h.SecretFile != "" {
		change.Secret, err = secretIn(h.SecretFile)
	}
	return change, err
}

// secretIn returns the secret in a file without the line break at its end, or nil if path is "".
func secretIn(path string) (*string, error) {
	if path == "" {
		return nil, nil
	}
	secret, err := os.ReadFile(path)
	if err != nil {
		return nil, &fileError{err}
	}
	return new(strings.TrimRight(string(secret), "\r\n")), nil
}

// CreateHook creates an incoming webhook, and prints its address alone, for scripts.
func (s *Shell) CreateHook(ctx context.Context, settings HookSettings) error {
	return s.saveHook(ctx, settings, "Created", func(api *client.Client, change client.HookChange) (client.Hook, error) {
		return api.CreateHook(ctx, change)
	})
}

// UpdateHook changes an incoming webhook. It prints a new address alone, for scripts.
func (s *Shell) UpdateHook(ctx context.Context, id string, settings HookSettings) error {
	number, err := parseID("<id>", id)
	if err != nil {
		return err
	}
	return s.saveHook(ctx, settings, "Changed", func(api *client.Client, change client.HookChange) (client.Hook, error) {
		h, err := api.UpdateHook(ctx, number, change)
		return h, listHint(err, listHooks)
	})
}

func (s *Shell) saveHook(ctx context.Context, settings HookSettings, did string, save func(*client.Client, client.HookChange) (client.Hook, error)) error {
	change, err := s.hookChange(ctx, settings)
	if err != nil {
		return err
	}
	var answer client.Answer
	h, err := save(s.API.Answering(&answer), change)
	switch {
	case err != nil:
		return err
	case s.JSON:
		return s.printJSON(answer.Body)
	}
	return s.printSecret(fmt.Sprintf("%s hook %d.", did, h.ID), "Its address, which is a key,", h.URL)
}

// DeleteHook deletes an incoming webhook.
func (s *Shell) DeleteHook(ctx context.Context, id string) error {
	return s.deleteByID(ctx, id, "Deleted hook %d.", listHooks, (*client.Client).DeleteHook)
}

// maxPayload limits a payload, in bytes, as the bridge does.
const maxPayload = 1 << 20

// PreviewHook prints the message that a JSON payload would become. headers are of the form NAME=VALUE.
func (s *Shell) PreviewHook(ctx context.Context, id string, from io.Reader, headers []string) error {
	number, err := parseID("<id>", id)
	if err != nil {
		return err
	}
	named := make(map[string]string, len(headers))
	for _, header := range headers {
		name, value, ok := strings.Cut(header, "=")
		if !ok || name == "" {
			return Usage("--header must be NAME=VALUE, as in --header X-Gitea-Event=push")
		}
		named[name] = value
	}
	payload, err := io.ReadAll(io.LimitReader(from, maxPayload+1))
	switch {
	case err != nil:
		return err
	case len(payload) > maxPayload:
		return Usage("the payload is larger than %d kB", maxPayload>>10)
	case !json.Valid(payload):
		return Usage("the payload must be JSON")
	}
	var answer client.Answer
	text, err := s.API.Answering(&answer).PreviewHook(ctx, number, payload, named)
	switch {
	case err != nil:
		return listHint(err, listHooks)
	case s.JSON:
		return s.printJSON(answer.Body)
	case text == "":
		return s.note("Nothing would be sent.")
	}
	return s.print("%s\n", PrintableLines(text))
}
