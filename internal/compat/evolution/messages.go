package evolution

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	"bridged/internal/bridge"
	"bridged/internal/client"
	"bridged/internal/compat"
)

// markReadBody holds what [markRead] reads.
type markReadBody struct {
	Messages []namedKey `json:"readMessages"`
}

func markRead(c *compat.Call, in markReadBody) (compat.Answer, error) {
	if len(in.Messages) == 0 {
		return compat.Answer{}, bridge.Invalid(`instance requires property "readMessages"`)
	}
	for _, key := range in.Messages { // reading up to an older one changes nothing
		chat, id, err := key.target()
		if err == nil {
			err = c.API.MarkRead(c.Context(), chat, id, "")
		}
		if err != nil {
			return compat.Answer{}, err
		}
	}
	return compat.Answer{Status: http.StatusCreated, Body: map[string]string{"message": "Read messages", "read": "success"}}, nil
}

func deleteMessage(c *compat.Call, in namedKey) (compat.Answer, error) {
	chat, id, err := in.target()
	if err != nil {
		return compat.Answer{}, err
	}
	deleted := bridge.Message{Chat: chat, ID: id, FromMe: bool(in.FromMe), SenderJID: bridge.JID(in.Participant)}
	return sendWith(c, http.StatusCreated, func() (client.Sent, error) { return c.API.Delete(c.Context(), chat, id, c.Key()) },
		func(account bridge.JID, sent bridge.Message) Record {
			return sentRecord(account, sent).with(typeProtocol, revocation(deleted))
		})
}

// updateMessageBody holds what [updateMessage] reads.
type updateMessageBody struct {
	Number compat.Text `json:"number"`
	Text   compat.Text `json:"text"`
	Key    namedKey    `json:"key"`
}

func updateMessage(c *compat.Call, in updateMessageBody) (compat.Answer, error) {
	if in.Key.RemoteJID == "" {
		in.Key.RemoteJID = in.Number
	}
	chat, id, err := in.Key.target()
	switch {
	case err != nil:
		return compat.Answer{}, err
	case in.Text == "":
		return compat.Answer{}, bridge.Invalid(`instance requires property "text"`)
	}
	content := bridge.Message{MessageType: bridge.TypeText, Content: string(in.Text)}
	return sendWith(c, http.StatusOK, func() (client.Sent, error) { return c.API.Edit(c.Context(), chat, id, string(in.Text), nil, c.Key()) }, showing(&content))
}

// paging is the part of a list that a caller asks for. Evolution names the size of a page
// offset.
type paging struct {
	Page   compat.Number `json:"page"`
	Offset compat.Number `json:"offset"`
	Take   compat.Number `json:"take"`
	Skip   compat.Number `json:"skip"`
}

// maxItems bounds what one answer holds.
const maxItems = 1000

// window returns how many items come before the part, and how many it has; usual where
// none are given.
func (p paging) window(usual int) (skip, take int) {
	size := float64(p.Take)
	if size <= 0 {
		size = float64(p.Offset)
	}
	if take = usual; size >= 1 {
		take = int(min(size, maxItems))
	}
	before := float64(p.Skip)
	if p.Page > 1 {
		before += (float64(p.Page) - 1) * float64(take)
	}
	return int(max(0, min(before, math.MaxInt32))), take
}

// moment is a time as clients write it: in seconds, milliseconds or as a date.
type moment struct{ *bridge.Time }

// UnmarshalJSON implements json.Unmarshaler.
func (m *moment) UnmarshalJSON(data []byte) error {
	var text compat.Text
	if err := text.UnmarshalJSON(data); err != nil || text == "" {
		return err
	}
	at, err := time.Parse(time.RFC3339, string(text))
	if err != nil {
		var seconds compat.Number
		if seconds.UnmarshalJSON(data) != nil {
			return bridge.Invalid("messageTimestamp: gte and lte must be a date (ISO 8601), seconds or milliseconds")
		}
		if seconds > 1e11 { // which no year of ours has
			seconds /= 1000
		}
		at = time.UnixMilli(int64(max(0, min(seconds, 1e11)) * 1000))
	}
	m.Time = new(bridge.At(at))
	return nil
}

// wanted says which messages a caller asks for.
type wanted struct {
	Key         namedKey    `json:"key"`
	FromMe      *flagged    `json:"-"`
	MessageType compat.Text `json:"messageType"`
	Timestamp   struct {
		From  moment `json:"gte"`
		Until moment `json:"lte"`
	} `json:"messageTimestamp"`
}

type flagged = compat.Flag

// UnmarshalJSON implements json.Unmarshaler. Whether the messages are own ones matters only
// where it is given.
func (w *wanted) UnmarshalJSON(data []byte) error {
	type plain wanted
	var given struct {
		Key struct {
			FromMe *flagged `json:"fromMe"`
		} `json:"key"`
	}
	if err := json.Unmarshal(data, (*plain)(w)); err != nil {
		return err
	}
	err := json.Unmarshal(data, &given)
	w.FromMe = given.Key.FromMe
	return err
}

// findMessagesBody holds what [findMessages] reads.
type findMessagesBody struct {
	Where wanted `json:"where"`
	paging
}

func findMessages(c *compat.Call, in findMessagesBody) (compat.Answer, error) {
	account, err := accountOf(c)
	if err != nil {
		return compat.Answer{}, err
	}
	skip, take := in.window(50)
	found := &foundMessages{account: account, take: take}
	answer, err := compat.OKList(compat.MessagesBytes, found.among(in.Where.find(c, skip)))
	answer.List.Head = `{"messages":{"records":`
	answer.List.Tail = func() string {
		// How many there are is not known: at least one more where more follow.
		page, total := skip/take+1, skip+found.count
		pages := page
		if found.more {
			pages, total = pages+1, total+1
		}
		return fmt.Sprintf(`,"total":%d,"pages":%d,"currentPage":%d}}`, total, pages, page)
	}
	return answer, err
}

// foundMessages lists the records of the first messages of a list, and counts them.
type foundMessages struct {
	account     bridge.JID
	take, count int
	more        bool // more follow
}

// among returns the records. A chat or a message that is not stored has none.
func (f *foundMessages) among(all iter.Seq2[bridge.Message, error]) iter.Seq2[any, error] {
	return func(yield func(any, error) bool) {
		for m, err := range all {
			switch {
			case bridge.CodeOf(err) == bridge.CodeNotFound && f.count == 0:
				return
			case err != nil:
				yield(nil, err)
				return
			}
			if f.more = f.count == f.take; f.more || !yield(RecordOf(f.account, m), nil) {
				return
			}
			f.count++
		}
	}
}

// find returns the messages without the first skip ones, the newest first.
func (w wanted) find(c *compat.Call, skip int) iter.Seq2[bridge.Message, error] {
	if w.Key.ID != "" {
		return func(yield func(bridge.Message, error) bool) { yield(w.Key.message(c, w.filters()...)) }
	}
	q := bridge.MessageQuery{
		Since: w.Timestamp.From.Time, Until: w.Timestamp.Until.Time, Limit: compat.MessagesPage,
		MessageFilter: bridge.MessageFilter{Type: string(w.MessageType), FromMe: (*bool)(w.FromMe)},
	}
	var err error
	if w.Key.RemoteJID == "" {
		err = bridge.Invalid("where.key.remoteJid is required: bridged lists the messages of one chat at a time")
	} else {
		q.Chat, err = compat.Recipient(string(w.Key.RemoteJID))
	}
	if err != nil {
		return func(yield func(bridge.Message, error) bool) { yield(bridge.Message{}, err) }
	}
	if q.MessageFilter.IsZero() { // else pages may end early, so that the API has no offset
		q.Offset, skip = skip, 0
	}
	all := c.API.AllMessages(c.Context(), q)
	return func(yield func(bridge.Message, error) bool) {
		for m, err := range all {
			if skip > 0 && err == nil {
				skip--
			} else if !yield(m, err) {
				return
			}
		}
	}
}

// filters returns searches that together find the messages.
func (w wanted) filters() []bridge.MessageFilter {
	if w.FromMe != nil {
		return []bridge.MessageFilter{{FromMe: (*bool)(w.FromMe)}}
	}
	return []bridge.MessageFilter{{FromMe: new(true)}, {FromMe: new(false)}}
}

// maxLookedAt bounds how many messages a search for an id alone looks at.
const maxLookedAt = 1000

// message returns the message of a key. Where the key has no chat, it is looked for among
// the newest that pass one of some filters.
func (k namedKey) message(c *compat.Call, among ...bridge.MessageFilter) (bridge.Message, error) {
	if k.RemoteJID != "" || k.ID == "" {
		chat, id, err := k.target()
		if err != nil {
			return bridge.Message{}, err
		}
		return c.API.Message(c.Context(), chat, id)
	}
	for _, filter := range among {
		looked := 0
		for match, err := range c.API.AllMatches(c.Context(), bridge.SearchQuery{MessageFilter: filter, Limit: 100}) {
			if err != nil {
				return bridge.Message{}, err
			}
			if match.MsgID == string(k.ID) {
				return c.API.Message(c.Context(), match.ChatJID, match.MsgID)
			}
			if looked++; looked == maxLookedAt {
				break
			}
		}
	}
	return bridge.Message{}, bridge.NotFound("the message is not among the newest %d: give the remoteJid of its key, too", maxLookedAt)
}

// downloadMediaBody holds what [downloadMedia] reads.
type downloadMediaBody struct {
	Message struct {
		Key namedKey `json:"key"`
	} `json:"message"`
}

func downloadMedia(c *compat.Call, in downloadMediaBody) (compat.Answer, error) {
	release, err := c.Reserve(compat.MessagesBytes)
	if err != nil {
		return compat.Answer{}, err
	}
	m, err := in.Message.Key.message(c, bridge.MessageFilter{HasMedia: new(true)})
	release()
	switch {
	case err != nil:
		return compat.Answer{}, err
	case m.Media == nil:
		return compat.Answer{}, bridge.Invalid("The message is not of the media type")
	}
	file, size, err := c.API.Download(c.Context(), m.Chat, m.ID)
	if err != nil {
		return compat.Answer{}, err
	}
	if size < 0 {
		size = m.Media.Size
	}
	head, err := bridge.EncodeJSON(map[string]any{
		"mediaType": fileTypes[m.Media.Type], "fileName": fileNameOf(m), "caption": m.Media.Caption, "mimetype": m.Media.MimeType, "buffer": nil,
		"size": map[string]any{"fileLength": strconv.FormatInt(size, 10), "height": m.Media.Height, "width": m.Media.Width},
	})
	return compat.Answer{Status: http.StatusCreated, Stream: func(w io.Writer) error { return writeBase64(w, head, file) }}, err
}

// writeBase64 adds a file to an object, as base64, while it is read.
func writeBase64(w io.Writer, object []byte, file io.ReadCloser) error {
	defer file.Close()
	if _, err := w.Write(append(bytes.TrimSuffix(bytes.TrimSpace(object), []byte("}")), `,"base64":"`...)); err != nil {
		return err
	}
	encoder := base64.NewEncoder(base64.StdEncoding, w)
	if _, err := io.Copy(encoder, file); err != nil {
		return err
	}
	if err := encoder.Close(); err != nil {
		return err
	}
	_, err := io.WriteString(w, `"}`)
	return err
}

func showPresence(c *compat.Call, in toNumber) (compat.Answer, error) {
	chat, err := in.recipient()
	if err != nil {
		return compat.Answer{}, err
	}
	states := map[string]bridge.TypingState{"composing": bridge.TypingText, "recording": bridge.TypingVoice, "paused": bridge.TypingPaused}
	state, known := states[strings.ToLower(string(in.Presence))]
	if !known {
		return compat.Answer{}, bridge.Invalid("presence must be composing, recording or paused: bridged does not show the account as online")
	}
	if err := c.API.ShowTyping(c.Context(), chat, state); err != nil {
		return compat.Answer{}, err
	}
	if in.Delay > 0 && state != bridge.TypingPaused {
		if err := c.Pause(delayOf(in.Delay)); err != nil {
			return compat.Answer{}, err
		}
		err = c.API.ShowTyping(c.Context(), chat, bridge.TypingPaused)
	}
	return compat.Answer{Status: http.StatusCreated, Body: map[string]any{"presence": in.Presence}}, err
}

// lastMessage names a chat, by itself or by its last message.
type lastMessage struct {
	Chat        compat.Text `json:"chat"`
	LastMessage struct {
		Key namedKey `json:"key"`
	} `json:"lastMessage"`
}

func (l lastMessage) chat() (bridge.JID, error) {
	named := l.Chat
	if named == "" {
		named = l.LastMessage.Key.RemoteJID
	}
	if named == "" {
		return "", bridge.Invalid(`instance requires property "chat"`)
	}
	return compat.Recipient(string(named))
}

// change changes how the account keeps a chat.
func (l lastMessage) change(c *compat.Call, change client.ChatChange, name string, value bool) (compat.Answer, error) {
	chat, err := l.chat()
	if err == nil {
		err = c.API.UpdateChat(c.Context(), chat, change, c.Key())
	}
	return compat.Answer{Status: http.StatusCreated, Body: map[string]any{"chatId": chat, name: value}}, err
}

// archiveChatBody holds what [archiveChat] reads.
type archiveChatBody struct {
	lastMessage
	Archive *compat.Flag `json:"archive"`
}

func archiveChat(c *compat.Call, in archiveChatBody) (compat.Answer, error) {
	archive := in.Archive == nil || bool(*in.Archive)
	return in.change(c, client.ChatChange{Archived: &archive}, "archived", archive)
}

func markUnread(c *compat.Call, in lastMessage) (compat.Answer, error) {
	return in.change(c, client.ChatChange{Unread: new(true)}, "markedChatUnread", true)
}
