package waha

import (
	"slices"
	"strings"

	"bridged/internal/bridge"
	"bridged/internal/compat"
)

// labelColors has the colours of labels as WAHA writes them, by the number of the colour.
var labelColors = [bridge.LabelColors]string{
	"#ff9485", "#64c4ff", "#ffd429", "#dfaef0", "#99b6c1", "#55ccb3", "#ff9dff", "#d3a91d", "#6d7cce", "#d7e752",
	"#00d0e2", "#ffc5c7", "#93ceac", "#f74848", "#00a0f2", "#83e422", "#ffaf04", "#b5ebff", "#9ba6ff", "#9368cf",
}

// label is a label in WAHA's form.
type label struct {
	ID       string `json:"id"`
	Name     string `json:"name"`
	Color    int    `json:"color"`
	ColorHex string `json:"colorHex"`
}

func labelOf(l bridge.Label) label {
	shown := label{l.ID, l.Name, l.Color, "#000000"}
	if l.Color >= 0 && l.Color < len(labelColors) {
		shown.ColorHex = labelColors[l.Color]
	}
	return shown
}

// labelsOf returns the labels that the caller may see and that isWanted accepts.
func labelsOf(c *compat.Call, isWanted func(id string) bool) ([]label, error) {
	all, err := c.API.Labels(c.Context())
	shown := []label{}
	for _, one := range all {
		if isWanted(one.ID) {
			shown = append(shown, labelOf(one.Label))
		}
	}
	return shown, err
}

func listLabels(c *compat.Call) (any, error) {
	return labelsOf(c, func(string) bool { return true })
}

// labelBody is the body of [createLabel] and [updateLabel]. A client gives the number of a colour or its hex
// value; n8n sends null for the other one.
type labelBody struct {
	Name     *compat.Text   `json:"name"`
	Color    *compat.Number `json:"color"`
	ColorHex compat.Text    `json:"colorHex"`
}

// patch returns the change in the API's form. It fails if the colour is no colour of a label.
func (b labelBody) patch() (bridge.LabelPatch, error) {
	patch := bridge.LabelPatch{Name: (*string)(b.Name)}
	hex := strings.ToLower(string(b.ColorHex))
	switch {
	case b.Color != nil && hex != "":
		return patch, bridge.Invalid("give either color or colorHex")
	case b.Color != nil:
		number := int(*b.Color)
		if compat.Number(number) != *b.Color {
			return patch, bridge.Invalid("color must be a whole number between 0 and %d", bridge.LabelColors-1)
		}
		patch.Color = &number
	case hex != "":
		number := slices.Index(labelColors[:], "#"+strings.TrimPrefix(hex, "#"))
		if number < 0 {
			return patch, bridge.Invalid("colorHex must be one of %s", strings.Join(labelColors[:], ", "))
		}
		patch.Color = &number
	}
	return patch, nil
}

func createLabel(c *compat.Call, in labelBody) (any, error) {
	patch, err := in.patch()
	if err != nil {
		return nil, err
	}
	created, err := c.API.CreateLabel(c.Context(), patch, c.Key())
	return labelOf(created), err
}

func updateLabel(c *compat.Call, in labelBody) (any, error) {
	patch, err := in.patch()
	if err != nil {
		return nil, err
	}
	changed, err := c.API.UpdateLabel(c.Context(), c.PathValue("label"), patch, c.Key())
	return labelOf(changed), err
}

func deleteLabel(c *compat.Call) (any, error) {
	return map[string]bool{"result": true}, c.API.DeleteLabel(c.Context(), c.PathValue("label"), c.Key())
}

// showLabelled lists the labels of a chat, labels/chats/{chat}, or the chats with a label,
// labels/{label}/chats. The patterns of net/http cannot have both routes, because labels/chats/chats matches
// both.
func showLabelled(c *compat.Call) (any, error) {
	first, second := c.PathValue("label"), c.PathValue("chat")
	switch {
	case first == "chats":
		return listChatLabels(c, second)
	case second == "chats":
		all := c.API.AllChats(c.Context(), bridge.ChatQuery{Label: first, Limit: 100})
		return &compat.List{Bytes: compat.ItemsBytes, Items: compat.Each(all, func(one bridge.Chat) (any, error) { return showChat(one), nil })}, nil
	}
	return nil, noRoute(c.Request)
}

func listChatLabels(c *compat.Call, chat string) (any, error) {
	jid, err := compat.Recipient(chat)
	if err != nil {
		return nil, err
	}
	stored, err := c.API.Chat(c.Context(), jid)
	if err != nil {
		return nil, err
	}
	return labelsOf(c, func(id string) bool { return slices.Contains(stored.Labels, id) })
}

// setLabelsBody is the body of [setChatLabels].
type setLabelsBody struct {
	Labels []struct {
		ID compat.Text `json:"id"`
	} `json:"labels"`
}

// setChatLabels gives a chat the labels of the body and removes its others. It changes nothing if one of them
// does not exist. Repeating it has no further effect, so the API's calls need no keys.
func setChatLabels(c *compat.Call, in setLabelsBody) (any, error) {
	jid, err := compat.Recipient(c.PathValue("chat"))
	if err != nil {
		return nil, err
	}
	if in.Labels == nil {
		return nil, bridge.Invalid("labels is missing: give the list of the chat's labels; an empty one removes all")
	}
	stored, err := c.API.Chat(c.Context(), jid)
	if err != nil {
		return nil, err
	}
	known, err := c.API.Labels(c.Context())
	if err != nil {
		return nil, err
	}
	wanted := make(map[string]bool)
	for i, one := range in.Labels {
		id := string(one.ID)
		if !slices.ContainsFunc(known, func(l bridge.StoredLabel) bool { return l.ID == id }) {
			return nil, bridge.NotFound("labels[%d].id: there is no label %q: GET /api/default/labels lists the labels", i, bridge.Beginning(id, 50))
		}
		wanted[id] = true
	}
	for _, one := range known {
		has := slices.Contains(stored.Labels, one.ID)
		if wanted[one.ID] == has {
			continue
		}
		if err := c.API.SetLabel(c.Context(), jid, "", one.ID, !has, ""); err != nil {
			return nil, err
		}
	}
	return success, nil
}
