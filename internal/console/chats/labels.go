package chats

import (
	"slices"

	"bridged/internal/bridge"
	"bridged/internal/console/frame"
	"bridged/internal/console/view"
)

// labelsFor returns the labels that messages may have; none if no message has one.
func labelsFor(req *frame.Request, messages []bridge.Message) (view.Labels, error) {
	if !slices.ContainsFunc(messages, func(m bridge.Message) bool { return len(m.Labels) > 0 }) {
		return nil, nil
	}
	return req.Labels()
}

// LabelMessage gives a message the chosen labels. It only changes labels that were chosen or removed in the form,
// so it does not undo what another device has changed since the form was opened.
func LabelMessage(req *frame.Request) error {
	labels, err := req.Labels()
	if err != nil {
		return err
	}
	chosen, before := req.PostForm["label"], req.PostForm["before"]
	for _, one := range labels {
		on := slices.Contains(chosen, one.ID)
		if on == slices.Contains(before, one.ID) {
			continue
		}
		if err := req.API.SetLabel(req.Context(), req.Chat, req.ID, one.ID, on, frame.NewKey()); err != nil {
			return err
		}
	}
	return req.Done(nil, "Labels saved", view.ChatPath(req.Chat))
}
