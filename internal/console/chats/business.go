package chats

import (
	"strings"

	"bridged/internal/bridge"
	"bridged/internal/console/markup"
)

// choices has the parts of a business's message as its bubble shows them, each once.
type choices struct {
	Title, Footer string
	Chosen        string // the answer to an earlier message
	Buttons       []choice
}

// choice is a button of a business's message, which the console cannot press.
type choice struct {
	Text  string
	About string // of a row in a list, or the number to call
	Link  string // http or https
}

// choicesOf returns the parts of a business's message besides its text, and its text without them: the content of such a
// message contains them all, one part a line.
func choicesOf(m bridge.Message) (*choices, string) {
	i := m.Interactive
	if i == nil || !showsContent(m) {
		return nil, m.Content
	}
	if i.Selected != nil {
		return &choices{Chosen: i.Selected.Text}, strings.TrimPrefix(cutLines(m.Content, i.Selected.Text), "\n")
	}
	text := m.Content
	shown := &choices{Title: i.Title, Footer: i.Footer}
	if i.Title != "" {
		text = cutLines(text, i.Title)
	}
	for _, b := range i.Buttons {
		var c choice
		c, text = choiceOf(b, text)
		if c.Text != "" {
			shown.Buttons = append(shown.Buttons, c)
		}
	}
	if i.Footer != "" {
		text = cutLines(text, i.Footer)
	}
	return shown, text
}

// choiceOf returns a button, and the text without its line.
func choiceOf(b bridge.Button, text string) (choice, string) {
	c := choice{Text: b.Text, About: b.Phone}
	target := b.URL + b.Phone
	if links := markup.Blocks(b.URL, nil); len(links) == 1 && len(links[0].Items[0].Spans) == 1 {
		c.Link = links[0].Items[0].Spans[0].Link
	}
	if b.URL != "" && c.Link == "" {
		c.About = b.URL
	}
	if c.Text == "" {
		c.Text = target
	}
	if target != "" && b.Text != "" && target != b.Text {
		return c, cutLines(text, b.Text+": "+target)
	}
	line := "\n" + text + "\n"
	if start := strings.Index(line, "\n"+c.Text+": "); start >= 0 && !strings.Contains(line, "\n"+c.Text+"\n") {
		about, _, _ := strings.Cut(line[start+len(c.Text)+3:], "\n")
		c.About = about
		return c, cutLines(text, c.Text+": "+about)
	}
	return c, cutLines(text, c.Text)
}

// cutLines returns a text without the first lines in it that are a part.
func cutLines(text, part string) string {
	lines := "\n" + text + "\n"
	before, after, found := strings.Cut(lines, "\n"+strings.TrimRight(part, "\n")+"\n")
	if !found {
		return text
	}
	return strings.Trim(before+"\n"+after, "\n")
}
