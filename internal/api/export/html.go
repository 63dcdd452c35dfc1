package export

import (
	_ "embed"
	"html/template"
	"io"
	"net/url"
	"strings"

	"bridged/internal/bridge"
)

// contentSecurityPolicy is the policy of a page that is served: it has a style of its own and nothing else.
const contentSecurityPolicy = "default-src 'none'; style-src 'unsafe-inline'; sandbox"

//go:embed page.html
var source string

// templates has the beginning, the messages and the end of a page. html/template escapes what people have written.
var templates = template.Must(template.New("").Parse(source))

// page writes a page of HTML that needs no other file, except the files of messages in an archive.
type page struct {
	to      io.Writer
	e       *Export
	lastDay string
}

func (p *page) begin() error { return templates.ExecuteTemplate(p.to, "begin", p.e.Chat.Name) }

func (p *page) end() error { return templates.ExecuteTemplate(p.to, "end", nil) }

// bubble is a message as the page shows it.
type bubble struct {
	*bridge.Message
	Day       string // if the day is another than that of the message before
	At        string
	Sender    string
	Text      string
	Kind      string // of a message without text
	File      string // its address, relative to the page
	FileName  string
	Quotation string
	Map       string
}

func (p *page) message(m *bridge.Message, sender, file string) error {
	at := m.Timestamp.In(p.e.Zone)
	b := bubble{Message: m, At: at.Format("15:04:05"), Sender: sender, Text: m.Content}
	if day := at.Format("2006-01-02"); day != p.lastDay {
		b.Day, p.lastDay = day, day
	}
	if m.Media != nil {
		b.FileName = m.Media.FileName
		if b.FileName == "" {
			b.FileName = string(m.Media.Type)
		}
	}
	if file != "" {
		b.FileName = file
		b.File = "./" + url.PathEscape(file)
	}
	if m.Content == "" && m.DeletedAt == nil && m.Media == nil && m.Location == nil && m.Poll == nil && len(m.Contacts) == 0 {
		b.Kind = strings.TrimSuffix(m.MessageType, "Message")
	}
	if m.Quoted != nil {
		b.Quotation = m.Quoted.Content
		if b.Quotation == "" {
			b.Quotation = m.Quoted.MessageType
		}
	}
	return templates.ExecuteTemplate(p.to, "message", b)
}
