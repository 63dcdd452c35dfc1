package wa_test

import (
	"fmt"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"go.mau.fi/whatsmeow/types"
	"go.mau.fi/whatsmeow/types/events"

	"bridged/internal/api/apitest"
	"bridged/internal/bridge"
)

// examination is one message on its way through the bridge.
type examination struct {
	*lab
	*apitest.Client
	t *testing.T
	received
	chat  bridge.JID
	shown *shownMessage // nil if the message is not listed
}

// shownMessage holds a message's fields from the answers.
type shownMessage struct {
	ID          string           `json:"msgId"`
	MessageType string           `json:"messageType"`
	Content     string           `json:"content"`
	Timestamp   string           `json:"timestamp"`
	Status      *bridge.Delivery `json:"status"`
	Media       *struct {
		MimeType    string `json:"mimetype"`
		Size        int64  `json:"size"`
		DownloadURL string `json:"downloadUrl"`
	} `json:"media"`
}

type shownEvents struct {
	Count  int `json:"count"`
	Events []struct {
		Type    bridge.EventType `json:"type"`
		Message *shownMessage    `json:"message"`
	} `json:"events"`
	NextCursor string `json:"nextCursor"`
}

func (e *examination) events(query string) (page shownEvents) {
	e.t.Helper()
	e.Get("/api/events" + query).Want(http.StatusOK).Decode(&page)
	return page
}

// history returns the path of a chat's messages.
func history(chat bridge.JID) string {
	if chat.IsGroup() {
		return "/api/groups/" + chat.Escaped() + "/messages"
	}
	return "/api/messages/individual/" + chat.Escaped()
}

// messages reads a page of a chat.
func (e *examination) messages(chat bridge.JID, query url.Values) []shownMessage {
	e.t.Helper()
	r := e.Get(history(chat) + "?" + query.Encode())
	var page struct{ Messages []shownMessage }
	r.Want(http.StatusOK).Decode(&page)
	if !utf8.Valid(r.Body) {
		e.t.Errorf("the history is not UTF-8: %q", r.Body)
	}
	return page.Messages
}

// readLists requests every list that must work whatever was received.
func (e *examination) readLists() {
	e.t.Helper()
	e.Get("/api/chats?limit=5").Want(http.StatusOK)
	e.Get("/api/chats?q=" + url.QueryEscape(e.chat.User())).Want(http.StatusOK)
	if e.chat.IsGroup() {
		e.Get("/api/groups/" + e.chat.Escaped()).Want(http.StatusOK)
	}
	for _, order := range []string{"asc", "desc"} {
		e.messages(e.chat, url.Values{"order": {order}, "limit": {"10"}})
	}
}

// readMessage looks for the message everywhere it has to show.
func (e *examination) readMessage() {
	e.t.Helper()
	m := e.shown
	if !e.inHistory(m) {
		e.t.Errorf("message %q does not stand in the history", m.ID)
	}
	e.search(m)
	info := e.Get("/api/messages/media-info/" + e.chat.Escaped() + "/" + url.PathEscape(m.ID))
	if m.Media == nil {
		info.Want(http.StatusNotFound)
		return
	}
	info.Want(http.StatusOK)
	if m.Media.Size < 0 || m.Media.MimeType == "" || len(m.Media.MimeType) > 255 {
		e.t.Errorf("size %d and MIME type %q", m.Media.Size, m.Media.MimeType)
	}
	e.download(m)
}

// inHistory looks for the message among the latest of its time.
func (e *examination) inHistory(m *shownMessage) bool {
	moment := url.Values{"limit": {"5"}, "order": {"desc"}, "since": {m.Timestamp}, "until": {m.Timestamp}}
	return slices.ContainsFunc(e.messages(e.chat, moment), func(other shownMessage) bool { return other.ID == m.ID })
}

// search looks for the message by its text.
func (e *examination) search(m *shownMessage) {
	e.t.Helper()
	words := []rune(m.Content)
	text := string(words[:min(len(words), 40)])
	if strings.TrimSpace(text) == "" {
		return
	}
	var found struct {
		Count   int
		Matches []shownMessage
	}
	e.Get("/api/messages/search?limit=500&q=" + url.QueryEscape(text)).Want(http.StatusOK).Decode(&found)
	if found.Count < 500 && !slices.ContainsFunc(found.Matches, func(other shownMessage) bool { return other.ID == m.ID }) {
		e.t.Errorf("a search for %q does not find message %q", text, m.ID)
	}
}

// download follows downloadUrl as clients do that normalise paths.
func (e *examination) download(m *shownMessage) {
	e.t.Helper()
	path := normalised(m.Media.DownloadURL)
	prefix := "/api/messages/media/"
	if !strings.HasPrefix(path, prefix) {
		e.t.Errorf("downloadUrl %q leads to %q", m.Media.DownloadURL, path)
		return
	}
	var info struct{ MsgID string }
	e.Get("/api/messages/media-info/" + strings.TrimPrefix(path, prefix)).Want(http.StatusOK).Decode(&info)
	if info.MsgID != m.ID {
		e.t.Errorf("downloadUrl leads to message %q, want %q", info.MsgID, m.ID)
	}
	for _, query := range []string{"", "?disposition=attachment"} {
		r := e.Get(path + query)
		e.wantAnswer("download", r)
		for name, values := range r.Header {
			if strings.ContainsFunc(values[0], isControl) || len(values[0]) > 4096 {
				e.t.Errorf("header %s: %.200q", name, values[0])
			}
		}
		if kind := r.Header.Get("Content-Type"); len(kind) > 255 {
			e.t.Errorf("a Content-Type of %d characters", len(kind))
		}
	}
}

func isControl(r rune) bool { return r < ' ' || r == 0x7f }

// normalised returns a path as browsers send it (the URL standard): dot segments
// are resolved, encoded ones too.
func normalised(path string) string {
	var kept []string
	for part := range strings.SplitSeq(path, "/") {
		switch strings.ReplaceAll(strings.ToLower(part), "%2e", ".") {
		case ".":
		case "..":
			if len(kept) > 1 {
				kept = kept[:len(kept)-1]
			}
		default:
			kept = append(kept, part)
		}
	}
	return strings.Join(kept, "/")
}

// forward forwards the message to a person who gets nothing else. It arrives if it
// was sent, and otherwise leaves no pending row.
func (e *examination) forward() {
	e.t.Helper()
	to := jidOf(e.sink)
	r := e.Post("/api/messages/forward", map[string]string{
		"sourceChatJid": string(e.chat), "sourceMsgId": e.shown.ID, "destJid": string(to),
	})
	e.wantAnswer("forward", r)
	if r.Status == http.StatusOK {
		var sent struct{ MsgID string }
		r.Decode(&sent)
		if _, err := e.sink.ReceivedID(e.t.Context(), sent.MsgID); err != nil {
			e.t.Errorf("the forwarded message did not arrive: %v", err)
		}
		return
	}
	if e.Get(history(to)).Status == http.StatusNotFound {
		return // nothing was ever sent there
	}
	for _, m := range e.messages(to, url.Values{"limit": {"3"}, "order": {"desc"}}) {
		if *m.Status == bridge.DeliveryPending {
			e.t.Errorf("message %q of type %s is left pending", m.ID, m.MessageType)
		}
	}
}

func (e *examination) react() {
	e.t.Helper()
	e.wantAnswer("reaction", e.Post("/api/messages/react", map[string]string{"chatJid": string(e.chat), "msgId": e.shown.ID, "emoji": "👍"}))
}

func (e *examination) quote() {
	e.t.Helper()
	e.wantAnswer("quote", e.Post("/api/messages/send", map[string]string{"jid": string(e.chat), "text": "about this", "quotedMsgId": e.shown.ID}))
}

// TestReceived_IncompleteGroup covers groups whose description lacks the usual
// fields: they are shown nevertheless.
func TestReceived_IncompleteGroup(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	client := apitest.NewClient(t, l.handler.URL, labToken)
	for n, info := range []types.GroupInfo{
		{},
		{GroupName: types.GroupName{Name: "bad \xff\x00 name"}, GroupCreated: time.Unix(math.MaxInt64, 0)},
		{Participants: []types.GroupParticipant{{}, {JID: l.friend.LID()}, {JID: l.friend.LID()}}, ParticipantCount: -1},
	} {
		info.JID = types.NewJID(fmt.Sprint(120363000000000001+n), types.GroupServer)
		for range 2 {
			if acknowledged, err := l.manager.Deliver(&events.JoinedGroup{GroupInfo: info}); err != nil || !acknowledged {
				t.Fatalf("group %d is refused: %v", n, err)
			}
		}
		jid := bridge.JID(info.JID.String())
		client.Get("/api/groups/" + jid.Escaped()).Want(http.StatusOK)
		client.Get(history(jid)).Want(http.StatusOK)
	}
	client.Get("/api/chats").Want(http.StatusOK)
	client.Get("/api/events?limit=1000").Want(http.StatusOK)
}
