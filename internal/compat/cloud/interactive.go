package cloud

import (
	"strconv"
	"strings"

	"bridged/internal/bridge"
	"bridged/internal/client"
	"bridged/internal/compat"
)

// interactive is a message with choices. Personal accounts cannot send buttons that all apps show, so it is
// sent as a text with numbered choices.
type interactive struct {
	Type   string `json:"type"`
	Header *struct {
		Type     string `json:"type"`
		Text     string `json:"text"`
		Image    file   `json:"image"`
		Video    file   `json:"video"`
		Document file   `json:"document"`
	} `json:"header"`
	Body   words  `json:"body"`
	Footer words  `json:"footer"`
	Action action `json:"action"`
}

type words struct {
	Text string `json:"text"`
}

type action struct {
	Buttons []struct {
		Reply choice `json:"reply"`
	} `json:"buttons"`
	Sections []struct {
		Title string   `json:"title"`
		Rows  []choice `json:"rows"`
	} `json:"sections"`
	Parameters struct {
		DisplayText string `json:"display_text"`
		URL         string `json:"url"`
	} `json:"parameters"`
}

type choice struct {
	Title       string `json:"title"`
	Description string `json:"description"`
}

// sendInteractive sends a message with choices as a text, or as the caption of its file.
func (a adapter) sendInteractive(c *compat.Call, i *interactive, chat bridge.JID, quote client.Quote) (bridge.Message, error) {
	if i == nil {
		return bridge.Message{}, bridge.Invalid("interactive is missing")
	}
	switch i.Type {
	case "button", "list", "cta_url", "location_request_message":
	default:
		return bridge.Message{}, bridge.Invalid("bridged does not send interactive messages of the type %q: send button, list or cta_url, which become a text", bridge.Beginning(i.Type, 50))
	}
	text := i.text()
	if i.Header == nil || i.Header.Type == "text" || i.Header.Type == "" {
		return c.Send(client.Text{To: chat, Text: text, Quote: quote}, c.Key())
	}
	f, known := map[string]file{"image": i.Header.Image, "video": i.Header.Video, "document": i.Header.Document}[i.Header.Type]
	if !known {
		return bridge.Message{}, bridge.Invalid("interactive.header.type must be text, image, video or document")
	}
	f.Caption = compat.Text(text)
	return a.sendFile(c, f, bridge.MediaType(i.Header.Type), chat, quote)
}

// text returns the parts of the message from top to bottom, with numbered choices.
func (i *interactive) text() string {
	parts := []string{i.Body.Text}
	if i.Header != nil && i.Header.Text != "" {
		parts = []string{"*" + i.Header.Text + "*", i.Body.Text}
	}
	count := 0
	numbered := func(c choice) string {
		count++
		line := strconv.Itoa(count) + ". " + c.Title
		if c.Description != "" {
			line += " – " + c.Description
		}
		return line
	}
	var lines []string
	for _, b := range i.Action.Buttons {
		lines = append(lines, numbered(b.Reply))
	}
	parts = append(parts, strings.Join(lines, "\n"))
	for _, s := range i.Action.Sections {
		lines = nil
		if s.Title != "" {
			lines = []string{"*" + s.Title + "*"}
		}
		for _, row := range s.Rows {
			lines = append(lines, numbered(row))
		}
		parts = append(parts, strings.Join(lines, "\n"))
	}
	if p := i.Action.Parameters; p.URL != "" {
		parts = append(parts, strings.TrimPrefix(p.DisplayText+": "+p.URL, ": "))
	}
	if i.Footer.Text != "" {
		parts = append(parts, "_"+i.Footer.Text+"_")
	}
	shown := parts[:0]
	for _, part := range parts {
		if part != "" {
			shown = append(shown, part)
		}
	}
	return strings.Join(shown, "\n\n")
}
