package shell

import (
	"context"
	"fmt"
	"strings"

	"bridged/internal/bridge"
	"bridged/internal/client"
)

// Labels prints the account's labels, by name.
func (s *Shell) Labels(ctx context.Context) error {
	labels, err := s.API.Labels(ctx)
	if err != nil {
		return err
	}
	columns := []column{{title: "NAME", flexible: true}, {title: "ID"}, {title: "COLOR"}, {title: "CHATS"}}
	return list(s, all(labels), 0, "There are no labels.", columns, func(label bridge.StoredLabel) []string {
		return []string{label.Name, label.ID, fmt.Sprint(label.Color), fmt.Sprint(label.Chats)}
	})
}

// CreateLabel creates a label, and prints its id.
func (s *Shell) CreateLabel(ctx context.Context, patch bridge.LabelPatch, key string) error {
	label, answer, err := changeOnce(ctx, s, key, func(api *client.Client, key string) (bridge.Label, error) {
		return api.CreateLabel(ctx, patch, key)
	})
	if err != nil {
		return err
	}
	if s.JSON {
		return s.printJSON(answer.Body)
	}
	return s.print("%s\n", label.ID)
}

// UpdateLabel changes a label, by its id or its name.
func (s *Shell) UpdateLabel(ctx context.Context, name string, patch bridge.LabelPatch, key string) error {
	if patch == (bridge.LabelPatch{}) {
		return Usage("say what to change, as in --name 'Paid in full'")
	}
	return s.changeLabel(ctx, name, key, "Changed the label %s.", func(api *client.Client, label, key string) error {
		_, err := api.UpdateLabel(ctx, label, patch, key)
		return err
	})
}

// DeleteLabel deletes a label, by its id or its name.
func (s *Shell) DeleteLabel(ctx context.Context, name, key string) error {
	return s.changeLabel(ctx, name, key, "Deleted the label %s.", func(api *client.Client, label, key string) error {
		return api.DeleteLabel(ctx, label, key)
	})
}

// SetLabel labels a chat or a message, or removes the label. The label is named by its id or its name.
func (s *Shell) SetLabel(ctx context.Context, what Target, label string, labelled bool) error {
	chat, err := s.find(ctx, what.Chat)
	if err != nil {
		return err
	}
	did := "Labelled " + string(chat) + " as %s."
	if !labelled {
		did = "Removed the label %s from " + string(chat) + "."
	}
	return s.changeLabel(ctx, label, what.Key, did, func(api *client.Client, label, key string) error {
		return api.SetLabel(ctx, chat, what.Message, label, labelled, key)
	})
}

// changeLabel makes a change of a label once and prints what was done: a sentence with a verb for the
// label.
func (s *Shell) changeLabel(ctx context.Context, name, key, did string, change func(api *client.Client, label, key string) error) error {
	label, err := s.findLabel(ctx, name)
	if err != nil {
		return err
	}
	return s.makeChange(ctx, key, fmt.Sprintf(did, label.Name), func(api *client.Client, key string) error { return change(api, label.ID, key) })
}

// findLabel returns the label with an id or a name.
func (s *Shell) findLabel(ctx context.Context, name string) (found bridge.Label, err error) {
	labels, err := s.API.Labels(ctx)
	if err != nil {
		return found, err
	}
	for _, label := range labels {
		if label.ID == name || strings.EqualFold(label.Name, name) {
			return label.Label, nil
		}
	}
	return found, hinted(bridge.NotFound("there is no label %q", name), "list the labels with: bridged labels list")
}
