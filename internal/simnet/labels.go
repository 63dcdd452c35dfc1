package simnet

import (
	"context"
	"slices"

	"go.mau.fi/whatsmeow/appstate"
	"go.mau.fi/whatsmeow/types"
)

// EditLabel creates or changes a label of the account.
func (p *Phone) EditLabel(ctx context.Context, id, name string, color int) error {
	return p.SendAppState(ctx, appstate.BuildLabelEdit(id, name, int32(color), false))
}

// DeleteLabel deletes a label of the account.
func (p *Phone) DeleteLabel(ctx context.Context, id string) error {
	return p.SendAppState(ctx, appstate.BuildLabelEdit(id, "", 0, true))
}

// LabelChat labels a chat, or removes the label.
func (p *Phone) LabelChat(ctx context.Context, chat types.JID, label string, labelled bool) error {
	return p.SendAppState(ctx, appstate.BuildLabelChat(chat, label, labelled))
}

// LabelMessage labels a message, or removes the label.
func (p *Phone) LabelMessage(ctx context.Context, chat types.JID, id types.MessageID, label string, labelled bool) error {
	return p.SendAppState(ctx, appstate.BuildLabelMessage(chat, label, id, labelled))
}

// Labels returns the names of the labels that the phone shows, by their ids, from all that the account's devices have changed.
func (p *Phone) Labels(ctx context.Context) (names map[string]string, err error) {
	names = make(map[string]string)
	err = p.eachLabel(ctx, appstate.IndexLabelEdit, func(m appstate.Mutation) {
		if action := m.Action.GetLabelEditAction(); !action.GetDeleted() {
			names[m.Index[1]] = action.GetName()
		}
	})
	return names, err
}

// LabelsOf returns the ids of the labels that the phone shows on a chat or, with an id, on a message.
func (p *Phone) LabelsOf(ctx context.Context, chat types.JID, id types.MessageID) (labels []string, err error) {
	kind := appstate.IndexLabelAssociationChat
	if id != "" {
		kind = appstate.IndexLabelAssociationMessage
	}
	names := p.namesOf(chat)
	err = p.eachLabel(ctx, kind, func(m appstate.Mutation) {
		isIt := slices.Contains(names, m.Index[2]) && (id == "" || m.Index[3] == id)
		if isIt && m.Action.GetLabelAssociationAction().GetLabeled() {
			labels = append(labels, m.Index[1])
		}
	})
	slices.Sort(labels)
	return slices.Compact(labels), err
}

func (p *Phone) eachLabel(ctx context.Context, kind string, do func(appstate.Mutation)) error {
	if _, err := p.beginAppState(ctx); err != nil {
		return err
	}
	mutations, _, err := p.readCollection(ctx, string(appstate.WAPatchRegular))
	for _, m := range mutations {
		if m.Index[0] == kind {
			do(m)
		}
	}
	return err
}
