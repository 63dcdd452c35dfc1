package console

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"io"
	"mime/multipart"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"bridged/internal/api/front"
	"bridged/internal/bridge"
	"bridged/internal/client"
	"bridged/internal/intake"
)

type composer struct {
	On      bool
	Off     string // why nothing can be written
	Chat    bridge.JID
	Group   bool
	Key     string // of the next send
	MaxFile int64  // in bytes
	Reply   *target
	React   *target
	Edit    *target
	Delete  *target
	Curl    string
}

// target is the message that is answered, reacted to or changed.
type target struct {
	ID, Sender, Text string
	Content          string // all of its text
	Path             string // of its forms
}

var quickEmojis = []string{"👍", "❤️", "😂", "😮", "😢", "🙏"}

// composer returns the form of a chat. Without the script, its state is in the address.
func (v *visit) composer(ctx context.Context, chat bridge.Chat, query url.Values) (composer, error) {
	c := composer{
		On: v.sends(), Off: v.c.noSending(v.session.token), Chat: chat.JID, Group: chat.IsGroup, Key: newKey(), MaxFile: v.c.options.MaxFile,
	}
	if chat.JID.IsImport() {
		c.On, c.Off = false, "This chat was imported from an export, so it’s for reading only."
	}
	if chat.JID.IsInterop() {
		c.On, c.Off = false, "This person is on another messenger. You can read what they write, and answer on your phone."
	}
	c.Curl = curl("POST", "/api/messages/send", client.Text{To: chat.JID, Text: "Hello"}, "-H "+shellQuoted("Idempotency-Key: "+c.Key))
	for name, field := range map[string]**target{"reply": &c.Reply, "react": &c.React, "edit": &c.Edit, "delete": &c.Delete} {
		id := query.Get(name)
		if id == "" {
			continue
		}
		m, err := v.api.Message(ctx, chat.JID, id)
		if err != nil {
			return c, err
		}
		n, err := v.names([]bridge.Chat{chat}, []bridge.Message{m})
		if err != nil {
			return c, err
		}
		*field = &target{ID: m.ID, Sender: senderOf(n.of(m.SenderJID), m.SenderJID, m.FromMe), Text: summary(m), Content: m.Content, Path: messagePath(chat.JID, m.ID)}
	}
	return c, nil
}

func newKey() string { return "console-" + rand.Text() }

// key returns the Idempotency-Key of the form that was sent. With it a repeated click,
// or a repeated call of the script, is the same message.
func (v *visit) key() string { return cmp.Or(v.r.PostForm.Get("key"), newKey()) }

func (c *Console) send(v *visit) error {
	message, err := messageOf(v.chat, v.r.PostForm)
	if err != nil {
		return err
	}
	sent, err := v.api.Send(v.r.Context(), message, v.key())
	return v.sent(sent, err)
}

// sent shows the chat again once a message was sent; the script gets its id.
func (v *visit) sent(sent client.Sent, err error) error {
	if err == nil && wantsJSON(v.r) {
		writeJSON(v.w, http.StatusOK, map[string]string{"msgId": sent.ID})
		return nil
	}
	return v.done(err, "", chatPath(v.chat))
}

func messageOf(to bridge.JID, form url.Values) (client.Message, error) {
	quote := client.Quote{QuotedMsgID: form.Get("reply")}
	switch form.Get("kind") {
	case "text":
		return client.Text{To: to, Text: strings.ReplaceAll(form.Get("text"), "\r\n", "\n"), Mentions: typed[bridge.JID](form["mention"]), Quote: quote}, nil
	case "reaction":
		return client.Reaction{Chat: to, MsgID: form.Get("react"), Emoji: strings.TrimSpace(form.Get("emoji"))}, nil
	case "place":
		return placeOf(to, form, quote)
	case "poll":
		return pollOf(to, form, quote), nil
	case "contact":
		card := bridge.ContactCard{DisplayName: form.Get("name"), Phone: form.Get("phone"), Email: form.Get("email"), Organization: form.Get("organization")}
		return client.Contacts{To: to, Contacts: []bridge.ContactCard{card}, Quote: quote}, nil
	}
	return nil, problem{http.StatusBadRequest, titleOf(http.StatusBadRequest), "Something is missing in the form. Reload the page, then try again.", ""}
}

// typed returns the values of a form's field as values of a type.
func typed[T ~string](values []string) []T {
	list := make([]T, len(values))
	for i, value := range values {
		list[i] = T(value)
	}
	return list
}

// placeOf reads latitude and longitude, which maps copy in one piece.
func placeOf(to bridge.JID, form url.Values, quote client.Quote) (client.Message, error) {
	latitude, longitude, _ := strings.Cut(form.Get("coordinates"), ",")
	north, errNorth := strconv.ParseFloat(strings.TrimSpace(latitude), 64)
	east, errEast := strconv.ParseFloat(strings.TrimSpace(longitude), 64)
	if errNorth != nil || errEast != nil || north != north || east != east {
		return nil, problem{http.StatusBadRequest, "This isn’t a location", "Enter latitude and longitude with a comma between them, such as 52.5163, 13.3777.", ""}
	}
	return client.Location{To: to, Latitude: north, Longitude: east, Name: form.Get("name"), Address: form.Get("address"), Quote: quote}, nil
}

// pollOf reads a poll whose options stand on lines of their own.
func pollOf(to bridge.JID, form url.Values, quote client.Quote) client.Message {
	poll := client.Poll{To: to, Name: form.Get("question"), SelectableCount: new(1), Quote: quote}
	if form.Get("several") != "" {
		poll.SelectableCount = new(0)
	}
	for line := range strings.Lines(form.Get("options")) {
		if line = strings.TrimSpace(line); line != "" {
			poll.Values = append(poll.Values, line)
		}
	}
	return poll
}

func messagePath(chat bridge.JID, id string) string {
	return chatPath(chat) + "/messages/" + bridge.PathID(id)
}

func (c *Console) edit(v *visit) error {
	text := strings.ReplaceAll(v.r.PostForm.Get("text"), "\r\n", "\n")
	mentions, err := v.mentionsIn(text)
	if err == nil {
		_, err = v.api.Edit(v.r.Context(), v.chat, v.id, text, mentions, v.key())
	}
	return v.done(err, "", chatPath(v.chat))
}

func (c *Console) deleteMessage(v *visit) error {
	_, err := v.api.Delete(v.r.Context(), v.chat, v.id, v.key())
	return v.done(err, "Message deleted for everyone", chatPath(v.chat))
}

// markRead marks a chat as read up to the newest message that its page showed.
func (c *Console) markRead(v *visit) error {
	return v.done(v.api.MarkRead(v.r.Context(), v.chat, v.r.PostForm.Get("upto"), ""), "", chatPath(v.chat))
}

// transcribe has a message transcribed. The page shows the transcript once it is there.
func (c *Console) transcribe(v *visit) error {
	asked, err := v.api.Transcribe(v.r.Context(), v.chat, v.r.PostForm.Get("id"))
	text := "This will be transcribed"
	switch {
	case asked.Transcript != nil:
		text = ""
	case asked.WaitsUntil != nil:
		text += " from " + asked.WaitsUntil.UTC().Format("2 January") + " on: this month has too few minutes left"
	}
	return v.done(err, text, chatPath(v.chat))
}

const (
	maxField  = 256 << 10 // bytes of the fields of a form with a file, each and together
	maxFields = 8         // parts of a form before its file, beside two of each name
)

var errNoFile = problem{http.StatusBadRequest, "No file selected", "Choose a file, then send it.", ""}

// sendFile passes a file on to the API while it arrives.
func (c *Console) sendFile(v *visit) error {
	if !v.sends() {
		return errUnknown
	}
	fields, file, err := v.fileForm("caption", "reply", "ptt", "as", "key")
	if err != nil {
		return err
	}
	if file.FileName() == "" {
		return errNoFile
	}
	upload := client.Upload{To: v.chat, FileName: file.FileName(), Caption: fields.Get("caption"), QuotedMsgID: fields.Get("reply"), PTT: fields.Get("ptt") != ""}
	if fields.Get("as") == "document" {
		upload.Type = bridge.MediaDocument
	}
	sent, err := v.api.SendFile(v.r.Context(), upload, steady{file, v.w}, cmp.Or(fields.Get("key"), newKey()))
	return v.sent(sent, err)
}

// fileForm reads the named fields of a form of this session up to its file, which arrives
// after it.
func (v *visit) fileForm(names ...string) (fields url.Values, file *multipart.Part, err error) {
	front.StartBody(v.w, v.r)
	fields, file, err = v.beforeFile(append(names, "csrf"))
	if err == nil && !v.session.owns(cmp.Or(v.r.Header.Get("X-CSRF-Token"), fields.Get("csrf"))) {
		err = errOutdated
	}
	return fields, file, err
}

// beforeFile reads the named fields of a form, and finds its file.
func (v *visit) beforeFile(names []string) (fields url.Values, file *multipart.Part, err error) {
	cut := intake.CutOff(v.w, v.r.Body)
	parts, err := intake.NewParts(v.r)
	if err != nil {
		return nil, nil, errNoFile
	}
	fields, size := make(url.Values), 0
	for range maxFields + 2*len(names) {
		part, err := parts.Next()
		if err != nil {
			return nil, nil, errNoFile
		}
		switch name := part.FormName(); {
		case name == "file":
			return fields, part, nil
		case slices.Contains(names, name):
			value, done, err := v.c.bodies.Read(v.r.Context(), intake.Source{Reader: part, Announced: -1, Most: maxField, Family: v.session.family, Cut: cut})
			fields.Add(name, string(value))
			done() // before the next one is read: forms must not wait for each other
			if size += len(value); err != nil || size > maxField {
				return nil, nil, errNoFile
			}
		}
	}
	return nil, nil, errNoFile
}

// steady reads a body, each piece of which has [front.BodyTime] to arrive.
type steady struct {
	io.Reader
	w http.ResponseWriter
}

func (s steady) Read(p []byte) (int, error) {
	front.SetDeadline(http.NewResponseController(s.w).SetReadDeadline, front.BodyTime)
	n, err := s.Reader.Read(p)
	if errors.Is(err, io.EOF) {
		front.BodyRead(s.w)
	}
	return n, err
}
