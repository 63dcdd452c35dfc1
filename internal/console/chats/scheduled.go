package chats

import (
	"net/http"
	"net/url"
	"strings"
	"time"

	"bridged/internal/bridge"
	"bridged/internal/client"
	"bridged/internal/console/frame"
	"bridged/internal/console/names"
	"bridged/internal/console/view"
)

// scheduledPage lists the messages that are sent later.
type scheduledPage struct {
	Waiting []waiting
	Sends   bool   // whether the visitor can change them
	More    string // the address of the next page; empty if none
	Curl    string
}

// waiting is a message that is sent later.
type waiting struct {
	bridge.ScheduledMessage
	Name   string // of the chat; empty on the page of the chat
	Word   view.Word
	Path   string        // of its forms
	Back   string        // the page to show after a change
	Key    string        // idempotency key of sending it now
	Local  string        // its time, as a field of a form has it
	HasOwn bool          // it has a text or a caption
	Why    frame.Problem // why it was not sent; without a text if it waits
	Album  bridge.Album  // that it is; empty for other messages
	Size   int64         // of the album's files, in bytes
}

// localLayout is the layout of a field with a date and a time.
const localLayout = "2006-01-02T15:04"

const scheduledRoot = view.Root + "/scheduled"

func waitingOf(req *frame.Request, m bridge.ScheduledMessage, back string) waiting {
	_, isFile := map[bridge.ScheduledType]bool{"image": true, "video": true, "document": true, bridge.ScheduledTypeAlbum: true}[m.Type]
	w := waiting{
		ScheduledMessage: m, Word: view.ScheduledWords[m.Status], Path: scheduledRoot + "/" + bridge.PathID(m.ID), Back: back, Key: frame.NewKey(),
		Local: m.SendAt.In(req.Zone()).Format(localLayout), HasOwn: !m.Begun && (isFile || m.Type == bridge.ScheduledTypeText),
	}
	if m.Error != nil {
		w.Why = req.ProblemOf(&bridge.Error{Code: m.Error.Code, Msg: m.Error.Error})
	}
	for _, item := range m.Items {
		if w.Size += item.Size; item.Type == bridge.MediaVideo {
			w.Album.Videos++
		} else {
			w.Album.Images++
		}
	}
	return w
}

// ShowScheduled shows the messages that are sent later, and those that could not be sent.
func ShowScheduled(req *frame.Request) error {
	list, err := req.API.Scheduled(req.Context(), bridge.ScheduledQuery{Limit: 50, Cursor: req.URL.Query().Get("cursor")})
	if err != nil {
		return err
	}
	page := scheduledPage{Sends: req.Sends(), Curl: req.Curl("GET", "/api/scheduled", nil), More: view.NextPage(scheduledRoot, url.Values{}, "cursor", list.NextCursor)}
	for _, m := range list.Items {
		one := waitingOf(req, m, scheduledRoot)
		one.Name = names.EntryFor(req, m.Chat).Name
		page.Waiting = append(page.Waiting, one)
	}
	return req.Show("scheduled", "Scheduled messages", page)
}

// mostWaiting limits the scheduled messages at the end of a chat.
const mostWaiting = 20

// waitingIn returns the next scheduled messages of a chat.
func waitingIn(req *frame.Request, chat bridge.JID) (all []waiting, err error) {
	list, err := req.API.Scheduled(req.Context(), bridge.ScheduledQuery{Chat: chat, Limit: mostWaiting})
	for _, m := range list.Items {
		all = append(all, waitingOf(req, m, view.ChatPath(chat)))
	}
	return all, err
}

// SendLater schedules a text.
func SendLater(req *frame.Request) error {
	at, err := timeIn(req)
	if err != nil {
		return err
	}
	text := client.Text{To: req.Chat, Text: strings.ReplaceAll(req.PostForm.Get("text"), "\r\n", "\n")}
	_, err = req.API.Send(req.Context(), client.Later{Message: text, At: *at}, req.Key())
	return req.Done(err, scheduledFor(req, *at), view.ChatPath(req.Chat))
}

// laterIn reads the time at which a form is to be sent, in the visitor's zone; nil for now.
func laterIn(req *frame.Request, form url.Values) (*bridge.Time, error) {
	if form.Get("at") == "" {
		return nil, nil
	}
	return parseTime(req, form.Get("at"))
}

// timeIn reads the time of a form, in the visitor's zone.
func timeIn(req *frame.Request) (*bridge.Time, error) {
	return parseTime(req, req.PostForm.Get("at"))
}

// scheduledFor says when a message will be sent.
func scheduledFor(req *frame.Request, at bridge.Time) string {
	return "Scheduled for " + req.Clock().At(at)
}

// parseTime reads a field with a date and a time, in the visitor's zone.
func parseTime(req *frame.Request, text string) (*bridge.Time, error) {
	at, err := time.ParseInLocation(localLayout, text, req.Zone())
	if err != nil {
		return nil, frame.Titled(http.StatusBadRequest, "There’s no time", "Choose the day and the time at which the message is to be sent.")
	}
	return new(bridge.At(at)), nil
}

// ChangeScheduled changes a scheduled message, cancels it or sends it now.
func ChangeScheduled(req *frame.Request) error {
	back := scheduledRoot
	if page := req.PostForm.Get("back"); strings.HasPrefix(page, view.Root+"/chats/") {
		back = page
	}
	switch req.PostForm.Get("do") {
	case "send":
		_, err := req.API.SendScheduled(req.Context(), req.ID, req.Key())
		return req.Done(err, "Sent", back)
	case "cancel":
		return req.Done(req.API.CancelScheduled(req.Context(), req.ID), "Cancelled", back)
	}
	at, err := timeIn(req)
	if err != nil {
		return err
	}
	patch := client.ScheduledPatch{SendAt: at}
	if req.PostForm.Has("text") {
		patch.Text = new(strings.ReplaceAll(req.PostForm.Get("text"), "\r\n", "\n"))
	}
	_, err = req.API.UpdateScheduled(req.Context(), req.ID, patch)
	return req.Done(err, scheduledFor(req, *at), back)
}
