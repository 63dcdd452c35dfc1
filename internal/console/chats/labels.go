package chats

import (
	"net/http"
	"slices"
	"strconv"
	"strings"

	"bridged/internal/bridge"
	"bridged/internal/console/frame"
	"bridged/internal/console/view"
)

// labelsFor returns the labels that messages may have; none if no message has one.
func labelsFor(req *frame.Request, messages []bridge.Message) (view.Labels, error) {
	if !slices.ContainsFunc(messages, func(m bridge.Message) bool { return len(m.Labels) > 0 }) {
		return view.Labels{}, nil
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
	for _, one := range labels.All {
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

const labelsRoot = view.Root + "/labels"

// labelsPage lists the labels of the account, with forms that change them.
type labelsPage struct {
	Labels []labelForm
	New    labelForm
	Curl   string
}

// labelForm is the form of a label, or of a new one without an id.
type labelForm struct {
	bridge.StoredLabel
	Typed string // the name in the form
	Color int    // that is chosen
	Key   string // idempotency key
	Wrong map[string]string
}

// ShowLabels shows the labels of the account.
func ShowLabels(req *frame.Request) error {
	return showLabelsWith(req, http.StatusOK, nil)
}

// showLabelsWith shows the labels, and a form with errors instead of the stored label.
func showLabelsWith(req *frame.Request, status int, wrong *labelForm) error {
	labels, err := changeableLabels(req)
	if err != nil {
		return err
	}
	page := labelsPage{New: labelForm{Color: freeColor(labels), Key: frame.NewKey()}, Curl: req.Curl("GET", "/api/labels", nil)}
	if wrong != nil && wrong.ID == "" {
		page.New = *wrong
	}
	for _, one := range labels {
		form := labelForm{StoredLabel: one, Typed: one.Name, Color: one.Color, Key: frame.NewKey()}
		if wrong != nil && wrong.ID == one.ID {
			form = *wrong
		}
		form.Name = view.LabelName(one.Label)
		page.Labels = append(page.Labels, form)
	}
	return req.ShowAs(status, "labels", "Labels", page)
}

// changeableLabels returns the labels that the visitor may change. It fails if the account cannot have labels.
func changeableLabels(req *frame.Request) ([]bridge.StoredLabel, error) {
	if !req.ChangesLabels() {
		return nil, frame.ErrNotFound
	}
	return req.API.Labels(req.Context())
}

// freeColor returns the first colour that no label has, or the first of all.
func freeColor(labels []bridge.StoredLabel) int {
	for color := range bridge.LabelColors {
		if !slices.ContainsFunc(labels, func(one bridge.StoredLabel) bool { return one.Color == color }) {
			return color
		}
	}
	return 0
}

// labelFields has the labels of the API's fields.
var labelFields = map[string]frame.Label{"name": {Field: "name", Label: "The name"}, "color": {Field: "color", Label: "The colour"}}

// CreateLabel creates a label.
func CreateLabel(req *frame.Request) error {
	return saveLabel(req, "", "Label created", func(patch bridge.LabelPatch) error {
		_, err := req.API.CreateLabel(req.Context(), patch, req.Key())
		return err
	})
}

// ChangeLabel renames or recolours a label, or deletes it.
func ChangeLabel(req *frame.Request) error {
	if req.PostForm.Get("do") == "delete" {
		return req.Done(req.API.DeleteLabel(req.Context(), req.ID, req.Key()), "Label deleted", labelsRoot)
	}
	return saveLabel(req, req.ID, "Label saved", func(patch bridge.LabelPatch) error {
		_, err := req.API.UpdateLabel(req.Context(), req.ID, patch, req.Key())
		return err
	})
}

// saveLabel calls save with the changes that a form makes to a label; id is empty for a new label. It refuses the name of
// another label, because both would look the same.
func saveLabel(req *frame.Request, id, done string, save func(bridge.LabelPatch) error) error {
	labels, err := changeableLabels(req)
	if err != nil {
		return err
	}
	f := req.Filled()
	name := strings.TrimSpace(f.Get("name"))
	color, err := strconv.Atoi(f.Get("color"))
	if err != nil {
		f.Refuse("color", "Choose a colour.")
	}
	form, patch := labelForm{Typed: name, Color: color, Key: req.Key(), Wrong: f.Wrong}, bridge.LabelPatch{Name: &name, Color: &color}
	for _, one := range labels {
		isName := strings.TrimSpace(one.Name) == name
		switch {
		case one.ID == id:
			form.StoredLabel = one
			if isName {
				patch.Name = nil
			}
			if one.Color == color {
				patch.Color = nil
			}
		case isName && name != "":
			f.Refuse("name", "There’s already a label with this name.")
		}
	}
	status := http.StatusBadRequest
	switch {
	case len(f.Wrong) > 0:
	case patch == bridge.LabelPatch{}:
		return req.Done(nil, "Nothing changed", labelsRoot)
	default:
		if err = save(patch); err == nil {
			return req.Done(nil, done, labelsRoot)
		}
		if status, err = req.Refusal(f, err, labelFields); err != nil {
			return err
		}
	}
	return showLabelsWith(req, status, &form)
}
