package export

import (
	"io"

	"bridged/internal/api/answer"
	"bridged/internal/bridge"
	"bridged/internal/chatexport"
)

// jsonLines writes each message as an object in a line of its own: the fields of messages in lists, with the chat and, in an
// archive, the name of the file or null.
type jsonLines struct {
	to        io.Writer
	withFiles bool
	line      []byte // reused
}

func (j *jsonLines) begin() error { return nil }

func (j *jsonLines) message(m *bridge.Message, _, file string) error {
	head := struct {
		ChatJID bridge.JID `json:"chatJid"`
		File    **string   `json:"file,omitempty"`
	}{ChatJID: m.Chat}
	if j.withFiles {
		head.File = new(bridge.OrNil(file))
	}
	line, err := bridge.EncodeJSON(head)
	if err != nil {
		return err
	}
	j.line = append(j.line[:0], line[:len(line)-1]...)
	if j.line, err = answer.AppendMessage(j.line, m); err != nil {
		return err
	}
	j.line[len(line)-1] = ',' // instead of the beginning of an object
	_, err = j.to.Write(append(j.line, '\n'))
	return err
}

func (j *jsonLines) end() error { return nil }

// textLines writes the text of the apps.
type textLines struct{ *chatexport.Writer }

func (textLines) begin() error { return nil }

func (t textLines) message(m *bridge.Message, sender, file string) error {
	return t.Write(m, sender, file)
}

func (textLines) end() error { return nil }
