package evolution

import (
	"strconv"

	"bridged/internal/bridge"
	"bridged/internal/compat"
)

// labelRecord is a label in Evolution's form. bridged does not know which labels the apps have from the
// beginning, so PredefinedID is always null.
type labelRecord struct {
	ID           string  `json:"id"`
	Name         string  `json:"name"`
	Color        string  `json:"color"` // a number
	PredefinedID *string `json:"predefinedId"`
}

func findLabels(c *compat.Call) (any, error) {
	all, err := c.API.Labels(c.Context())
	shown := make([]labelRecord, len(all))
	for i, one := range all {
		shown[i] = labelRecord{ID: one.ID, Name: one.Name, Color: strconv.Itoa(one.Color)}
	}
	return shown, err
}

// handleLabelBody is the body of [handleLabel].
type handleLabelBody struct {
	sendBase
	LabelID compat.Text `json:"labelId"`
	Action  compat.Text `json:"action"`
}

// handleLabel labels a chat, or removes the label.
func handleLabel(c *compat.Call, in handleLabelBody) (any, error) {
	jid, err := in.recipient()
	switch {
	case err != nil:
		return nil, err
	case in.LabelID == "":
		return nil, bridge.Invalid(`instance requires property "labelId"`)
	case in.Action != "add" && in.Action != "remove":
		return nil, bridge.Invalid("action must be add or remove")
	}
	err = c.API.SetLabel(c.Context(), jid, "", string(in.LabelID), in.Action == "add", c.Key())
	return map[string]any{"numberJid": jid, "labelId": in.LabelID, string(in.Action): true}, err
}
