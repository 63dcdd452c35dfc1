package sending

import (
	"context"
	"errors"
	"strconv"
	"time"

	"go.mau.fi/whatsmeow/appstate"
	"go.mau.fi/whatsmeow/types"
	"google.golang.org/protobuf/proto"

	"bridged/internal/bridge"
	"bridged/internal/wa/convert"
	"bridged/internal/wa/session"
)

// labelsChange names a change of labels in errors.
const labelsChange = "the change of the labels"

// CreateLabel creates a label on all of the account's devices. If there is one with this name, it
// returns that.
func (s *Sender) CreateLabel(ctx context.Context, name string, color int) (label bridge.Label, err error) {
	ctx, cancel := s.Within(ctx, chatStateTimeout)
	defer cancel()
	exists := false
	err = s.changeShared(ctx, "", labelsChange, func(c *Client) error {
		if label.ID == "" {
			if label, exists, err = c.newLabel(ctx, name, color); err != nil || exists {
				return err
			}
		}
		return c.changeLabel(ctx, label, 0, false)
	})
	return label, err
}

// newLabel returns a label with an id that no other label has, or the label with this name.
func (c *Client) newLabel(ctx context.Context, name string, color int) (label bridge.Label, exists bool, err error) {
	// Other devices may just have created labels.
	entries, err := c.ReadCollection(ctx, appstate.WAPatchRegular)
	switch {
	case errors.Is(err, appstate.ErrKeyNotFound):
		return label, false, session.ErrNoStateKey
	case err != nil:
		return label, false, err
	}
	var facts []bridge.Fact
	for _, entry := range entries {
		facts = append(facts, convert.LabelOf(entry)...)
	}
	if err := c.s.save(facts...); err != nil {
		return label, false, err
	}
	labels, err := c.s.o.Store.Labels(ctx, bridge.LabelQuery{})
	if err != nil {
		return label, false, err
	}
	for _, known := range labels {
		if known.Name == name {
			return known.Label, true, nil
		}
	}
	number, err := c.s.o.Store.NextLabel(ctx)
	if err != nil {
		return label, false, err
	}
	return bridge.Label{ID: strconv.FormatInt(number, 10), Name: name, Color: color}, false, nil
}

// ChangeLabel changes a label on all of the account's devices, or deletes it.
func (s *Sender) ChangeLabel(ctx context.Context, label bridge.Label, deletes bool) error {
	predefined, err := s.o.Store.Predefined(ctx, label.ID)
	if err != nil {
		return err
	}
	ctx, cancel := s.Within(ctx, chatStateTimeout)
	defer cancel()
	return s.changeShared(ctx, "", labelsChange, func(c *Client) error { return c.changeLabel(ctx, label, predefined, deletes) })
}

func (c *Client) changeLabel(ctx context.Context, label bridge.Label, predefined int, deletes bool) error {
	return c.changeLabels(ctx, "", func(context.Context) (appstate.PatchInfo, bridge.Fact) {
		patch := newPatch(appstate.BuildLabelEdit(label.ID, label.Name, int32(label.Color), deletes))
		if predefined != 0 {
			patch.Mutations[0].Value.LabelEditAction.PredefinedID = proto.Int32(int32(predefined))
		}
		return patch, bridge.LabelChange{Label: label, Predefined: predefined, Deleted: deletes, Timestamp: bridge.At(patch.Timestamp)}
	})
}

// LabelChat labels a chat on all of the account's devices, or removes the label.
func (s *Sender) LabelChat(ctx context.Context, chat bridge.JID, label string, labelled bool) error {
	return s.associate(ctx, chat, func(target types.JID) (appstate.PatchInfo, bridge.Fact) {
		patch := newPatch(appstate.BuildLabelChat(target, label, labelled))
		return patch, bridge.ChatLabel{Chat: chat, Label: label, Labelled: labelled, Timestamp: bridge.At(patch.Timestamp)}
	})
}

// LabelMessage labels a message on all of the account's devices, or removes the label.
func (s *Sender) LabelMessage(ctx context.Context, m bridge.Message, label string, labelled bool) error {
	return s.associate(ctx, m.Chat, func(target types.JID) (appstate.PatchInfo, bridge.Fact) {
		patch := newPatch(appstate.BuildLabelMessage(target, label, convert.OnWire(&m), labelled))
		return patch, bridge.MessageLabel{Chat: m.Chat, Target: m.ID, Label: label, By: s.ownPN(), Labelled: labelled, Timestamp: bridge.At(patch.Timestamp)}
	})
}

// newPatch returns a patch of now: the last change of a label counts.
func newPatch(patch appstate.PatchInfo) appstate.PatchInfo {
	patch.Timestamp = time.Now()
	return patch
}

// associate changes the labels of a chat or of a message in it.
func (s *Sender) associate(ctx context.Context, chat bridge.JID, compose func(target types.JID) (appstate.PatchInfo, bridge.Fact)) error {
	ctx, cancel := s.Within(ctx, chatStateTimeout)
	defer cancel()
	return s.changeShared(ctx, chat, labelsChange, func(c *Client) error {
		return c.changeLabels(ctx, chat, func(ctx context.Context) (appstate.PatchInfo, bridge.Fact) {
			return compose(convert.WireJID(c.wireForm(ctx, chat, chat)))
		})
	})
}

// changeLabels makes a change of labels, and stores what the network has accepted.
func (c *Client) changeLabels(ctx context.Context, about bridge.JID, compose func(context.Context) (appstate.PatchInfo, bridge.Fact)) error {
	return c.changeStateOf(ctx, about, func(ctx context.Context) (appstate.PatchInfo, func() error) {
		patch, fact := compose(ctx)
		return patch, func() error { return c.s.save(fact) }
	})
}
