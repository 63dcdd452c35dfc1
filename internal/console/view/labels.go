package view

import (
	"cmp"
	"slices"

	"bridged/internal/bridge"
)

// Labels are the labels of an account by their names.
type Labels struct {
	All     []bridge.StoredLabel
	Changes bool // whether the visitor may create, change and delete them
}

// labelChoice is a label in the menu of a chat. On is whether the chat has it.
type labelChoice struct {
	bridge.Label
	On bool
}

// LabelName returns the name of a label. The apps name some labels by themselves.
func LabelName(one bridge.Label) string { return cmp.Or(one.Name, "Label "+one.ID) }

// Of returns the labels with the given ids. Unknown ids are left out.
func (l Labels) Of(ids []string) (found []bridge.Label) {
	for _, one := range l.Choices(ids) {
		if one.On {
			found = append(found, one.Label)
		}
	}
	return found
}

// Choices returns all labels. Those with the given ids are on.
func (l Labels) Choices(ids []string) []labelChoice {
	choices := make([]labelChoice, len(l.All))
	for i, one := range l.All {
		one.Name = LabelName(one.Label)
		choices[i] = labelChoice{one.Label, slices.Contains(ids, one.ID)}
	}
	return choices
}

// LabelColors names the colours of labels, by their numbers.
var LabelColors = [bridge.LabelColors]string{
	"Salmon", "Sky blue", "Yellow", "Lilac", "Grey blue", "Turquoise", "Pink", "Ochre", "Indigo", "Lime",
	"Cyan", "Rose", "Sage", "Red", "Blue", "Green", "Orange", "Pale blue", "Lavender", "Purple",
}
