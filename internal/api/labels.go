package api

import (
	"context"

	"github.com/go-chi/chi/v5"

	"bridged/internal/bridge"
)

// labels returns the labels that the caller may see, all or the one with an id. It fails with
// [bridge.CodeNoLabels] if the account has none and cannot have any.
func (s *server) labels(ctx context.Context, q bridge.LabelQuery) ([]bridge.StoredLabel, error) {
	if user := s.Account.Status().User; user != nil && !user.HasLabels() {
		all, err := s.Store.Labels(ctx, bridge.LabelQuery{})
		if err == nil && len(all) == 0 {
			err = bridge.Fail(bridge.CodeNoLabels, "this account has no labels: they need the app WhatsApp Business, and the phone has the ordinary one")
		}
		if err != nil {
			return nil, err
		}
	}
	return s.Store.Labels(ctx, q)
}

// label returns a label that the caller may see.
func (q *input) label(ctx context.Context, id string) (bridge.Label, error) {
	found, err := q.labels(ctx, bridge.LabelQuery{Only: q.caller().Chats, ID: id})
	switch {
	case err != nil:
		return bridge.Label{}, err
	case len(found) == 0 || id == "":
		return bridge.Label{}, bridge.NoLabel(id)
	}
	return found[0].Label, nil
}

func listLabels(in *input) (any, error) {
	labels, err := in.labels(in.ctx(), bridge.LabelQuery{Only: in.caller().Chats})
	return struct {
		Labels []bridge.StoredLabel `json:"labels"`
	}{bridge.NotNil(labels)}, err
}

// createLabel creates a label, or returns the one that has the name already.
func createLabel(in *input) (any, error) {
	var patch bridge.LabelPatch
	body := in.body(&patch, strict)
	keep(in, patch, patch.Check())
	if patch.Name == nil {
		in.refuse("name is required")
		return nil, in.err
	}
	label := patch.On(bridge.Label{})
	return changeLabel(in, body, &label, func(ctx context.Context) error {
		_, err := in.labels(ctx, bridge.LabelQuery{})
		return err
	}, func(ctx context.Context) (err error) {
		label, err = in.Account.CreateLabel(ctx, label.Name, label.Color)
		return err
	})
}

func updateLabel(in *input) (any, error) {
	var patch bridge.LabelPatch
	body := in.body(&patch, strict)
	keep(in, patch, patch.Check())
	return changeStoredLabel(in, body, patch, false)
}

func deleteLabel(in *input) (any, error) {
	return changeStoredLabel(in, in.body(&struct{}{}, optional), bridge.LabelPatch{}, true)
}

// changeStoredLabel changes the label in the path, or deletes it.
func changeStoredLabel(in *input, body []byte, patch bridge.LabelPatch, deletes bool) (any, error) {
	var label bridge.Label
	return changeLabel(in, body, &label, func(ctx context.Context) (err error) {
		label, err = in.label(ctx, in.path("labelId"))
		label = patch.On(label)
		return err
	}, func(ctx context.Context) error { return in.Account.ChangeLabel(ctx, label, deletes) })
}

// changeLabel makes a change of a label, and answers with the label. A replayed answer has the label as
// it is stored now.
func changeLabel(in *input, body []byte, label *bridge.Label, lookUp, change func(context.Context) error) (any, error) {
	return actOnce(in, body, act{
		change: true, lookUp: lookUp,
		do: func(ctx context.Context) (bridge.Sent, error) {
			err := change(ctx)
			return bridge.Sent{ID: label.ID, Timestamp: bridge.At(in.Now())}, err
		},
		answer: func(done bridge.Sent) any {
			label.ID = done.ID
			return struct {
				OK    bool         `json:"ok"`
				Label bridge.Label `json:"label"`
			}{true, *label}
		},
	})
}

func setLabel(in *input) (any, error) { return setLabelled(in, true) }

func removeLabel(in *input) (any, error) { return setLabelled(in, false) }

// setLabelled labels the chat in the path, or the message if it names one, or removes the label.
func setLabelled(in *input, labelled bool) (any, error) {
	jid, label, id := in.pathChat("jid"), in.path("labelId"), ""
	if chi.URLParam(in.r, "msgId") != "" {
		id = in.pathID("msgId")
	}
	body := in.body(&struct{}{}, optional)
	m := bridge.Message{} // without an id for the chat
	return actOnce(in, body, act{
		chat: jid, change: true,
		lookUp: func(ctx context.Context) (err error) {
			if id == "" {
				var chat bridge.Chat
				chat, err = in.chat(ctx, jid)
				m.Chat = chat.JID
			} else if m, err = in.message(ctx, jid, id); err == nil {
				err = m.Markable("labelled")
			}
			if err == nil {
				_, err = in.label(ctx, label)
			}
			return err
		},
		do: func(ctx context.Context) (bridge.Sent, error) {
			done := bridge.Sent{ID: m.ID, Chat: m.Chat, Timestamp: bridge.At(in.Now())}
			if id == "" {
				return done, in.Account.LabelChat(ctx, m.Chat, label, labelled)
			}
			return done, in.Account.LabelMessage(ctx, m, label, labelled)
		},
		answer: func(done bridge.Sent) any {
			return struct {
				OK         bool       `json:"ok"`
				ChatJID    bridge.JID `json:"chatJid"`
				MsgID      *string    `json:"msgId"` // nil for the chat
				LabelID    string     `json:"labelId"`
				IsLabelled bool       `json:"isLabelled"`
			}{true, in.canonical(done.Chat), bridge.OrNil(done.ID), label, labelled}
		},
	})
}
