package chats

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"bridged/internal/bridge"
	"bridged/internal/client"
	"bridged/internal/console/frame"
	"bridged/internal/console/view"
)

type composer struct {
	On      bool
	Closed  closed // why not
	Chat    bridge.JID
	Group   bool
	Key     string // idempotency key of the next send
	MaxFile int64  // in bytes
	Most    int    // pictures and videos of an album
	Curl    string
	Later   string // the suggested time of a message that is sent later
}

var quickEmojis = []string{"👍", "❤️", "😂", "😮", "😢", "🙏"}

// composerOf returns the form of a chat.
func composerOf(req *frame.Request, chat bridge.Chat) (composer, error) {
	why, err := closedTo(req, chat)
	c := composer{
		On: why.Why == "", Closed: why, Chat: chat.JID, Group: chat.IsGroup, Key: frame.NewKey(), MaxFile: req.Options.MaxFile, Most: bridge.MaxAlbum,
		Later: req.Now().In(req.Zone()).Truncate(time.Hour).Add(2 * time.Hour).Format(localLayout),
	}
	c.Curl = req.Curl("POST", "/api/messages/send", client.Text{To: chat.JID, Text: "Hello"}, "-H "+view.ShellQuoted("Idempotency-Key: "+c.Key))
	return c, err
}

// Send sends a text, reaction, location, poll or contact.
func Send(req *frame.Request) error {
	message, err := messageOf(req.Chat, req.PostForm)
	if err != nil {
		return err
	}
	at, err := laterIn(req, req.PostForm)
	if err != nil {
		return err
	}
	if at != nil {
		message = client.Later{Message: message, At: *at}
	}
	sent, err := req.API.Send(req.Context(), message, req.Key())
	return answerSent(req, sent, err)
}

// answerSent shows the chat again once a message was sent; the script gets its id.
func answerSent(req *frame.Request, sent client.Sent, err error) error {
	text := ""
	if sent.SendAt != nil {
		text = scheduledFor(req, *sent.SendAt)
	}
	if err == nil && req.WantsJSON() {
		frame.WriteJSON(req.W, http.StatusOK, map[string]string{"msgId": sent.ID, "text": text})
		return nil
	}
	return req.Done(err, text, view.ChatPath(req.Chat))
}

func messageOf(to bridge.JID, form url.Values) (client.Message, error) {
	quote := client.Quote{QuotedMsgID: form.Get("reply")}
	switch form.Get("kind") {
	case "text":
		return client.Text{To: to, Text: strings.ReplaceAll(form.Get("text"), "\r\n", "\n"), Mentions: view.Typed[bridge.JID](form["mention"]), Quote: quote}, nil
	case "reaction":
		return client.Reaction{Chat: to, MsgID: form.Get("react"), Emoji: strings.TrimSpace(form.Get("emoji"))}, nil
	case "place":
		return placeOf(to, form, quote)
	case "poll":
		return pollOf(to, form, quote), nil
	case "contact":
		return contactOf(to, form, quote)
	}
	return nil, frame.Refused(http.StatusBadRequest, "Something is missing in the form. Reload the page, then try again.")
}

// contactOf reads a contact, whose number may have spaces, a plus and the like.
func contactOf(to bridge.JID, form url.Values, quote client.Quote) (client.Message, error) {
	card := bridge.ContactCard{DisplayName: form.Get("name"), Email: form.Get("email"), Organization: form.Get("organization")}
	if number := strings.TrimSpace(form.Get("phone")); number != "" {
		phone, err := bridge.ParsePhone(number)
		if err != nil {
			return nil, frame.Titled(http.StatusBadRequest, "This isn’t a phone number", view.AskNumber)
		}
		card.Phone = phone
	}
	return client.Contacts{To: to, Contacts: []bridge.ContactCard{card}, Quote: quote}, nil
}

// placeOf reads latitude and longitude, which maps copy as one text.
func placeOf(to bridge.JID, form url.Values, quote client.Quote) (client.Message, error) {
	latitude, longitude, _ := strings.Cut(form.Get("coordinates"), ",")
	north, errNorth := strconv.ParseFloat(strings.TrimSpace(latitude), 64)
	east, errEast := strconv.ParseFloat(strings.TrimSpace(longitude), 64)
	if errNorth != nil || errEast != nil || north != north || east != east {
		return nil, frame.Titled(http.StatusBadRequest, "This isn’t a location", "Enter latitude and longitude with a comma between them, such as 52.5163, 13.3777.")
	}
	return client.Location{To: to, Latitude: north, Longitude: east, Name: form.Get("name"), Address: form.Get("address"), Quote: quote}, nil
}

// pollOf reads a poll with one option a line.
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

// Edit edits an own message.
func Edit(req *frame.Request) error {
	text := strings.ReplaceAll(req.PostForm.Get("text"), "\r\n", "\n")
	mentions, err := mentionsIn(req, text)
	if err == nil {
		_, err = req.API.Edit(req.Context(), req.Chat, req.ID, text, mentions, req.Key())
	}
	return req.Done(err, "", view.ChatPath(req.Chat))
}

// DeleteMessage deletes a message for everyone, or on the account's own devices.
func DeleteMessage(req *frame.Request) error {
	remove, done := req.API.Delete, "Message deleted for everyone"
	if req.PostForm.Get("for") == "me" {
		remove, done = req.API.DeleteForMe, "Message deleted for you"
	}
	_, err := remove(req.Context(), req.Chat, req.ID, req.Key())
	return req.Done(err, done, view.ChatPath(req.Chat))
}

// MarkRead marks a chat as read up to the newest message of its page.
func MarkRead(req *frame.Request) error {
	return req.Done(req.API.MarkRead(req.Context(), req.Chat, req.PostForm.Get("upto"), ""), "", view.ChatPath(req.Chat))
}

// Transcribe requests a transcript. The page shows it when it arrives.
func Transcribe(req *frame.Request) error {
	asked, err := req.API.Transcribe(req.Context(), req.Chat, req.PostForm.Get("id"))
	text := "Transcribing…"
	switch {
	case asked.Transcript != nil:
		text = ""
	case asked.WaitsUntil != nil:
		text = "This will be transcribed from " + view.Clock{Zone: time.UTC, Now: req.Now()}.Within(*asked.WaitsUntil) + " on. This month’s minutes are used up."
	}
	return req.Done(err, text, view.ChatPath(req.Chat))
}

// SendFile sends a file, or several as an album. It passes them to the API while they arrive.
func SendFile(req *frame.Request) error {
	if !req.Sends() {
		return frame.ErrNotFound
	}
	fields, file, err := req.FileForm("caption", "reply", "ptt", "as", "once", "gif", "at", "album", "key")
	if err != nil {
		return err
	}
	if file.FileName() == "" {
		return frame.ErrNoFile
	}
	if kinds := strings.Fields(fields.Get("album")); len(kinds) > 0 {
		return sendAlbum(req, fields, file, kinds)
	}
	upload := client.Upload{To: req.Chat, FileName: file.FileName(), Caption: fields.Get("caption"), QuotedMsgID: fields.Get("reply"), PTT: fields.Get("ptt") != "", ViewOnce: fields.Get("once") != "", GIF: fields.Get("gif") != ""}
	if upload.SendAt, err = laterIn(req, fields); err != nil {
		return err
	}
	if fields.Get("as") == "document" {
		upload.Type = bridge.MediaDocument
	}
	sent, err := req.API.SendFile(req.Context(), upload, file, cmp.Or(fields.Get("key"), frame.NewKey()))
	return answerSent(req, sent, err)
}

// sendAlbum sends the files of a form as an album with one caption. kinds says for each whether it is an image or a
// video.
func sendAlbum(req *frame.Request, fields url.Values, first frame.File, kinds []string) error {
	if len(kinds) > bridge.MaxAlbum {
		return frame.Refused(http.StatusBadRequest, fmt.Sprintf("An album can have up to %d photos and videos.", bridge.MaxAlbum))
	}
	files := albumFiles{arrived: []frame.File{first}}
	at, err := laterIn(req, fields)
	if err != nil {
		return err
	}
	album := client.Album{To: req.Chat, SendAt: at, Quote: client.Quote{QuotedMsgID: fields.Get("reply")}}
	for i, kind := range kinds {
		album.Items = append(album.Items, client.AlbumItem{Part: fmt.Sprint("file", i+1), Type: bridge.MediaType(kind), File: albumFile{&files, i}})
	}
	album.Items[0].Caption = fields.Get("caption")
	sent, err := req.API.SendAlbum(req.Context(), album, cmp.Or(fields.Get("key"), frame.NewKey()))
	return answerSent(req, sent.Sent, files.describe(req, err))
}

// albumFiles are the files of a form that have arrived.
type albumFiles struct {
	arrived []frame.File
	err     error // why the next one has not
}

// albumFile reads a file of a form after those before it have been read.
type albumFile struct {
	of *albumFiles
	at int
}

// Read implements [io.Reader].
func (f albumFile) Read(p []byte) (int, error) {
	if len(f.of.arrived) == f.at {
		next, err := f.of.arrived[f.at-1].Next()
		if err != nil {
			f.of.err = err
			return 0, err
		}
		f.of.arrived = append(f.of.arrived, next)
	}
	return f.of.arrived[f.at].Read(p)
}

// describe returns an error of sending the files as an album. It names the file that the API names by its number.
func (f *albumFiles) describe(req *frame.Request, err error) error {
	if err != nil && f.err != nil {
		return f.err
	}
	refused, ok := errors.AsType[*client.Error](err)
	if !ok {
		return err
	}
	at := 0
	if n, _ := fmt.Sscanf(refused.Message, "items[%d]:", &at); n != 1 || at >= len(f.arrived) {
		return err
	}
	p := req.ProblemOf(err)
	p.Text = "“" + f.arrived[at].FileName() + "”: " + p.Text
	return p
}
