package view

import (
	"cmp"
	"slices"

	"bridged/internal/bridge"
)

// Labels are the labels of an account by their names.
type Labels []bridge.StoredLabel

// labelChoice is a label in the menu of a chat. On is whether the chat has it.
type labelChoice struct {
	bridge.Label
	On bool
}

// Of returns the labels with the given ids. Unknown ids are left out.
func (all Labels) Of(ids []string) (found []bridge.Label) {
	for _, one := range all.Choices(ids) {
		if one.On {
			found = append(found, one.Label)
		}
	}
	return found
}

// Choices returns all labels. Those with the given ids are on.
func (all Labels) Choices(ids []string) []labelChoice {
	choices := make([]labelChoice, len(all))
	for i, one := range all {
		one.Name = cmp.Or(one.Name, "Label "+one.ID) // the apps name some labels by themselves
		choices[i] = labelChoice{one.Label, slices.Contains(ids, one.ID)}
	}
	return choices
}
