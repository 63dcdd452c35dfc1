package evolution

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"math"
	"strconv"
	"strings"
	"time"

	"bridged/internal/bridge"
	"bridged/internal/client"
	"bridged/internal/compat"
)

// markReadBody is the body of [markRead].
type markReadBody struct {
	Messages []messageKey `json:"readMessages"`
}

func markRead(c *compat.Call, in markReadBody) (any, error) {
	if len(in.Messages) == 0 {
		return nil, bridge.Invalid(`instance requires property "readMessages"`)
	}
	for _, key := range in.Messages { // reading up to an older message changes nothing
		chat, id, err := key.target()
		if err == nil {
			err = c.API.MarkRead(c.Context(), chat, id, "")
		}
		if err != nil {
			return nil, err
		}
	}
	return map[string]string{"message": "Read messages", "read": "success"}, nil
}

func deleteMessage(c *compat.Call, in messageKey) (any, error) {
	chat, id, err := in.target()
	if err != nil {
		return nil, err
	}
	deleted := bridge.Message{Chat: chat, ID: id, FromMe: bool(in.FromMe), SenderJID: bridge.JID(in.Participant)}
	var m bridge.Message
	err = c.Deliver(&m, func() (client.Sent, error) { return c.API.Delete(c.Context(), chat, id, c.Key()) })
	return sentRecord(m).with(typeProtocol, revocation(deleted)), err
}

// updateMessageBody is the body of [updateMessage].
type updateMessageBody struct {
	Number compat.Text `json:"number"`
	Text   compat.Text `json:"text"`
	Key    messageKey  `json:"key"`
}

func updateMessage(c *compat.Call, in updateMessageBody) (any, error) {
	if in.Key.RemoteJID == "" {
		in.Key.RemoteJID = in.Number
	}
	chat, id, err := in.Key.target()
	switch {
	case err != nil:
		return nil, err
	case in.Text == "":
		return nil, bridge.Invalid(`instance requires property "text"`)
	}
	m := bridge.Message{MessageType: bridge.TypeText, Content: string(in.Text)}
	err = c.Deliver(&m, func() (client.Sent, error) { return c.API.Edit(c.Context(), chat, id, string(in.Text), nil, c.Key()) })
	return sentRecord(m), err
}

// paging is the part of a list that a caller asks for. In Evolution's API, offset is the size of a page.
type paging struct {
	Page   compat.Number `json:"page"`
	Offset compat.Number `json:"offset"`
	Take   compat.Number `json:"take"`
	Skip   compat.Number `json:"skip"`
}

// maxItems limits the items of an answer.
const maxItems = 1000

// window returns how many items to skip and to take; usual is the default size.
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

// moment is a time in seconds, in milliseconds or as a date.
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
		if seconds > 1e11 { // these are milliseconds
			seconds /= 1000
		}
		at = time.UnixMilli(int64(max(0, min(seconds, 1e11)) * 1000))
	}
	m.Time = new(bridge.At(at))
	return nil
}

// conditions select messages.
type conditions struct {
	Key         messageKey  `json:"key"`
	FromMe      *flagged    `json:"-"`
	MessageType compat.Text `json:"messageType"`
	Timestamp   struct {
		From  moment `json:"gte"`
		Until moment `json:"lte"`
	} `json:"messageTimestamp"`
}

type flagged = compat.Flag

// UnmarshalJSON implements json.Unmarshaler. FromMe is nil if the caller does not give it.
func (w *conditions) UnmarshalJSON(data []byte) error {
	type plain conditions
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

// findMessagesBody is the body of [findMessages].
type findMessagesBody struct {
	Where conditions `json:"where"`
	paging
}

func findMessages(c *compat.Call, in findMessagesBody) (any, error) {
	account, err := accountOf(c)
	skip, take := in.window(50)
	found := &foundMessages{account: account, take: take}
	list := &compat.List{Bytes: compat.MessagesBytes, Items: found.in(in.Where.find(c, skip)), Head: `{"messages":{"records":`}
	list.Tail = func() string {
		// The total is unknown. If more messages follow, it counts one of them.
		page, total := skip/take+1, skip+found.count
		pages := page
		if found.more {
			pages, total = pages+1, total+1
		}
		return fmt.Sprintf(`,"total":%d,"pages":%d,"currentPage":%d}}`, total, pages, page)
	}
	return list, err
}

// foundMessages returns the records of a list's first messages and counts them.
type foundMessages struct {
	account     bridge.JID
	take, count int
	more        bool // more messages follow
}

// in returns the records of a list. It returns none if the chat or the message is not stored.
func (f *foundMessages) in(all iter.Seq2[bridge.Message, error]) iter.Seq2[any, error] {
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
func (w conditions) find(c *compat.Call, skip int) iter.Seq2[bridge.Message, error] {
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
	if q.MessageFilter.IsZero() { // the API has no offset for filtered pages, which may end early
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

// filters returns the filters of searches that together find the messages.
func (w conditions) filters() []bridge.MessageFilter {
	if w.FromMe != nil {
		return []bridge.MessageFilter{{FromMe: (*bool)(w.FromMe)}}
	}
	return []bridge.MessageFilter{{FromMe: new(true)}, {FromMe: new(false)}}
}

// maxLookedAt limits the messages that a search for an id without its chat reads.
const maxLookedAt = 1000

// message returns the message of a key. If the key has no chat, it searches the newest messages that pass
// one of the filters.
func (k messageKey) message(c *compat.Call, filters ...bridge.MessageFilter) (bridge.Message, error) {
	if k.RemoteJID != "" || k.ID == "" {
		chat, id, err := k.target()
		if err != nil {
			return bridge.Message{}, err
		}
		return c.API.Message(c.Context(), chat, id)
	}
	for _, filter := range filters {
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

// downloadMediaBody is the body of [downloadMedia].
type downloadMediaBody struct {
	Message struct {
		Key messageKey `json:"key"`
	} `json:"message"`
}

func downloadMedia(c *compat.Call, in downloadMediaBody) (any, error) {
	release, err := c.Reserve(compat.MessagesBytes)
	if err != nil {
		return nil, err
	}
	m, err := in.Message.Key.message(c, bridge.MessageFilter{HasMedia: new(true)})
	release()
	switch {
	case err != nil:
		return nil, err
	case m.Media == nil:
		return nil, bridge.Invalid("The message is not of the media type")
	}
	file, size, err := c.API.Download(c.Context(), m.Chat, m.ID)
	if err != nil {
		return nil, err
	}
	if size < 0 {
		size = m.Media.Size
	}
	head, err := bridge.EncodeJSON(map[string]any{
		"mediaType": compat.MessageType(m.Media.Type), "fileName": fileNameOf(m), "caption": m.Media.Caption, "mimetype": m.Media.MimeType, "buffer": nil,
		"size": map[string]any{"fileLength": strconv.FormatInt(size, 10), "height": m.Media.Height, "width": m.Media.Width},
	})
	return compat.Stream(func(w io.Writer) error { return writeBase64(w, head, file) }), err
}

// writeBase64 writes an object with a file in base64 as its last member.
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

func showPresence(c *compat.Call, in sendBase) (any, error) {
	chat, err := in.recipient()
	if err != nil {
		return nil, err
	}
	states := map[string]bridge.TypingState{"composing": bridge.TypingText, "recording": bridge.TypingVoice, "paused": bridge.TypingPaused}
	state, known := states[strings.ToLower(string(in.Presence))]
	if !known {
		return nil, bridge.Invalid("presence must be composing, recording or paused: bridged does not show the account as online")
	}
	if err := c.API.ShowTyping(c.Context(), chat, state); err != nil {
		return nil, err
	}
	if in.Delay > 0 && state != bridge.TypingPaused {
		if err := c.Pause(delayOf(in.Delay)); err != nil {
			return nil, err
		}
		err = c.API.ShowTyping(c.Context(), chat, bridge.TypingPaused)
	}
	return map[string]any{"presence": in.Presence}, err
}

// lastMessage names a chat, or the last message of one.
type lastMessage struct {
	Chat        compat.Text `json:"chat"`
	LastMessage struct {
		Key messageKey `json:"key"`
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

// change changes a chat's setting.
func (l lastMessage) change(c *compat.Call, change client.ChatChange, name string, value bool) (any, error) {
	chat, err := l.chat()
	if err == nil {
		err = c.API.UpdateChat(c.Context(), chat, change, c.Key())
	}
	return map[string]any{"chatId": chat, name: value}, err
}

// archiveChatBody is the body of [archiveChat].
type archiveChatBody struct {
	lastMessage
	Archive *compat.Flag `json:"archive"`
}

func archiveChat(c *compat.Call, in archiveChatBody) (any, error) {
	archive := in.Archive == nil || bool(*in.Archive)
	return in.change(c, client.ChatChange{Archived: &archive}, "archived", archive)
}

func markUnread(c *compat.Call, in lastMessage) (any, error) {
	return in.change(c, client.ChatChange{Unread: new(true)}, "markedChatUnread", true)
}
