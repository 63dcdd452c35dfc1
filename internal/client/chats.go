package client

import (
	"context"
	"encoding/json"
	"io"
	"iter"
	"net/http"
	"net/url"
	"strconv"

	"bridged/internal/bridge"
)

// Chats returns a page of the list of chats. Zero values in queries mean the API's defaults.
func (c *Client) Chats(ctx context.Context, q bridge.ChatQuery) (bridge.Page[bridge.Chat], error) {
	path := query{
		"type": string(q.Type), "kind": string(q.Kind), "q": q.Q, "unread": choice(q.Unread), "unanswered": choice(q.Unanswered), "archived": choice(q.Archived), "pinned": choice(q.Pinned), "label": q.Label,
		"limit": number(q.Limit), "offset": number(q.Offset), "cursor": q.Cursor,
	}.on("/api/chats")
	return getPage[bridge.Chat](ctx, c, path, "chats")
}

// AllChats returns all chats from the page of q on, in pages of q.Limit.
func (c *Client) AllChats(ctx context.Context, q bridge.ChatQuery) iter.Seq2[bridge.Chat, error] {
	return pages(func() (bridge.Page[bridge.Chat], error) { return c.Chats(ctx, q) }, &q.Cursor, &q.Offset)
}

// Chat returns one chat.
func (c *Client) Chat(ctx context.Context, jid bridge.JID) (bridge.Chat, error) {
	return call[bridge.Chat](ctx, c, http.MethodGet, "/api/chats/"+jid.Escaped(), nil)
}

// Calls returns a page of the calls to the account, the newest first.
func (c *Client) Calls(ctx context.Context, q bridge.CallQuery) (bridge.Page[bridge.Call], error) {
	path := query{"chat": string(q.Chat), "since": timestamp(q.Since), "limit": number(q.Limit), "cursor": q.Cursor}.on("/api/calls")
	return getPage[bridge.Call](ctx, c, path, "calls")
}

// AllCalls returns all calls from the page of q on, in pages of q.Limit.
func (c *Client) AllCalls(ctx context.Context, q bridge.CallQuery) iter.Seq2[bridge.Call, error] {
	return pages(func() (bridge.Page[bridge.Call], error) { return c.Calls(ctx, q) }, &q.Cursor, new(int))
}

// RejectCall rejects a ringing call. For the key see Send.
func (c *Client) RejectCall(ctx context.Context, id, key string) error {
	return c.CallOnce(ctx, http.MethodPost, "/api/calls/"+pathID(id)+"/reject", nil, key, nil)
}

// MarkRead marks a chat as read up to a message, or completely if upTo is empty, and sends read
// receipts.
func (c *Client) MarkRead(ctx context.Context, chat bridge.JID, upTo, key string) error {
	body := struct {
		MsgID string `json:"msgId,omitempty"`
	}{upTo}
	return c.CallOnce(ctx, http.MethodPost, "/api/chats/"+chat.Escaped()+"/read", body, key, nil)
}

// ShowTyping shows the account as typing in a chat for some seconds, or ends that.
func (c *Client) ShowTyping(ctx context.Context, chat bridge.JID, state bridge.TypingState) error {
	return c.Call(ctx, http.MethodPost, "/api/chats/"+chat.Escaped()+"/typing", map[string]any{"state": state}, nil)
}

// ChatChange changes the settings of a chat on all of the account's devices. Nil fields stay
// unchanged.
type ChatChange struct {
	Archived *bool // true also unpins the chat
	Pinned   *bool // true also unarchives the chat
	// MutedUntil mutes the chat until a time, or forever with [bridge.MutedForever]. The zero
	// time unmutes it.
	MutedUntil *bridge.Time
	Unread     *bool // false marks the chat as read, without read receipts
	// Expiration is the timer of disappearing messages of a private chat, in seconds; 0 is off.
	Expiration *uint32
}

// MarshalJSON writes the fields that are set.
func (c ChatChange) MarshalJSON() ([]byte, error) {
	fields := map[string]any{}
	for name, value := range map[string]*bool{"archived": c.Archived, "pinned": c.Pinned, "unread": c.Unread} {
		if value != nil {
			fields[name] = *value
		}
	}
	if c.Expiration != nil {
		fields["disappearingSeconds"] = *c.Expiration
	}
	if until := c.MutedUntil; until != nil {
		switch {
		case until.IsZero():
			fields["mutedUntil"] = nil
		case until.Equal(bridge.MutedForever().Time):
			fields["mutedUntil"] = "forever"
		default:
			fields["mutedUntil"] = until
		}
	}
	return json.Marshal(fields)
}

// UpdateChat archives, pins or mutes a chat, or marks it as unread or (without read receipts) as
// read. For the key see Send.
func (c *Client) UpdateChat(ctx context.Context, chat bridge.JID, change ChatChange, key string) error {
	return c.CallOnce(ctx, http.MethodPatch, "/api/chats/"+chat.Escaped(), change, key, nil)
}

// ClearChat erases the messages of a chat on the account's devices, except for starred ones if
// keepStarred is set. For the key see Send.
func (c *Client) ClearChat(ctx context.Context, chat bridge.JID, keepStarred bool, key string) error {
	return c.wipe(ctx, http.MethodPost, "/api/chats/"+chat.Escaped()+"/clear", map[string]bool{"keepStarred": keepStarred}, key)
}

// DeleteChat erases a chat on the account's devices. For the key see Send.
func (c *Client) DeleteChat(ctx context.Context, chat bridge.JID, key string) error {
	return c.wipe(ctx, http.MethodDelete, "/api/chats/"+chat.Escaped(), nil, key)
}

// wipe makes a call that must be confirmed.
func (c *Client) wipe(ctx context.Context, method, path string, body any, key string) error {
	header := keyed(key)
	header.Set("X-Confirm-Wipe", "yes")
	resp, err := c.Do(ctx, method, path, body, header)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	return c.decode(resp, nil)
}

func messagePath(chat bridge.JID, id string) string {
	return "/api/chats/" + chat.Escaped() + "/messages/" + pathID(id)
}

// HistoryRequest is a request to the phone for messages from before a stored one, at most Count.
type HistoryRequest struct {
	RequestID string
	ChatJID   bridge.JID
	Count     int
	Before    struct {
		MsgID     string
		Timestamp bridge.Time
	}
}

// RequestHistory asks the phone for older messages of a chat, at most count of them; 0 is the bridge's
// default. The phone answers later, if it does.
func (c *Client) RequestHistory(ctx context.Context, chat bridge.JID, count int) (HistoryRequest, error) {
	body := struct {
		Count int `json:"count,omitempty"`
	}{count}
	return call[HistoryRequest](ctx, c, http.MethodPost, "/api/chats/"+chat.Escaped()+"/history", body)
}

// HistoryPath returns the path of a chat's messages.
func HistoryPath(chat bridge.JID) string { return "/api/chats/" + chat.Escaped() + "/messages" }

// Messages returns a page of a chat's messages.
func (c *Client) Messages(ctx context.Context, q bridge.MessageQuery) (bridge.Page[bridge.Message], error) {
	path := query{
		"since": timestamp(q.Since), "until": timestamp(q.Until), "q": q.Q, "fold": string(q.Fold), "sender": string(q.Sender), "order": string(q.Order),
		"type": q.Type, "fromMe": choice(q.FromMe), "hasMedia": choice(q.HasMedia), "pinned": choice(q.Pinned), "starred": choice(q.Starred),
		"limit": number(q.Limit), "offset": number(q.Offset), "cursor": q.Cursor,
	}.on(HistoryPath(q.Chat))
	var answer struct {
		JID        bridge.JID
		Messages   []bridge.Message
		NextCursor *string
	}
	err := c.Call(ctx, http.MethodGet, path, nil, &answer)
	for i := range answer.Messages {
		answer.Messages[i].Chat = answer.JID
	}
	return bridge.Page[bridge.Message]{Items: answer.Messages, NextCursor: answer.NextCursor}, err
}

// AllMessages returns all messages from the page of q on, in pages of q.Limit.
func (c *Client) AllMessages(ctx context.Context, q bridge.MessageQuery) iter.Seq2[bridge.Message, error] {
	return pages(func() (bridge.Page[bridge.Message], error) { return c.Messages(ctx, q) }, &q.Cursor, &q.Offset)
}

// Message returns one message of a chat.
func (c *Client) Message(ctx context.Context, chat bridge.JID, id string) (bridge.Message, error) {
	var answer struct {
		ChatJID bridge.JID
		Message bridge.Message
		SentBy  *bridge.CalledBy
	}
	err := c.Call(ctx, http.MethodGet, messagePath(chat, id), nil, &answer)
	answer.Message.Chat, answer.Message.By = answer.ChatJID, answer.SentBy
	return answer.Message, err
}

// Transcribe requests a transcript of a message. An existing transcript is returned at once.
func (c *Client) Transcribe(ctx context.Context, chat bridge.JID, id string) (answer bridge.TranscriptRequest, err error) {
	err = c.Call(ctx, http.MethodPost, messagePath(chat, id)+"/transcript", nil, &answer)
	return answer, err
}

// Search returns a page of the messages, of all chats or of one, that contain a text or pass
// filters.
func (c *Client) Search(ctx context.Context, q bridge.SearchQuery) (bridge.Page[bridge.Match], error) {
	path := query{
		"q": q.Q, "fold": string(q.Fold), "chat": string(q.Chat), "sender": string(q.Sender), "type": q.Type, "fromMe": choice(q.FromMe), "hasMedia": choice(q.HasMedia), "pinned": choice(q.Pinned), "starred": choice(q.Starred),
		"since": timestamp(q.Since), "until": timestamp(q.Until), "chatType": string(q.ChatType),
		"limit": number(q.Limit), "cursor": q.Cursor,
	}.on("/api/messages/search")
	return getPage[bridge.Match](ctx, c, path, "matches")
}

// AllMatches returns all messages of a search, from the page of q on.
func (c *Client) AllMatches(ctx context.Context, q bridge.SearchQuery) iter.Seq2[bridge.Match, error] {
	return pages(func() (bridge.Page[bridge.Match], error) { return c.Search(ctx, q) }, &q.Cursor, new(int))
}

// MediaInfo describes a message's file.
func (c *Client) MediaInfo(ctx context.Context, chat bridge.JID, msgID string) (bridge.Media, error) {
	var answer struct{ Media bridge.Media }
	err := c.Call(ctx, http.MethodGet, "/api/messages/media-info/"+chat.Escaped()+"/"+pathID(msgID), nil, &answer)
	return answer.Media, err
}

// Download opens a message's file. size is -1 if it is unknown.
func (c *Client) Download(ctx context.Context, chat bridge.JID, msgID string) (file io.ReadCloser, size int64, err error) {
	resp, err := c.Do(ctx, http.MethodGet, bridge.DownloadPath(chat, msgID), nil, nil)
	if err != nil {
		return nil, 0, err
	}
	return resp.Body, resp.ContentLength, nil
}

// File returns the response with a message's file, or with the range that the headers of another
// request ask for. With the method HEAD it has no body.
func (c *Client) File(ctx context.Context, method string, chat bridge.JID, msgID string, of http.Header) (*http.Response, error) {
	header := make(http.Header)
	for _, name := range []string{"Range", "If-Range", "If-None-Match", "If-Modified-Since"} {
		if values := of.Values(name); len(values) > 0 {
			header[name] = values
		}
	}
	return c.Do(ctx, method, bridge.DownloadPath(chat, msgID), nil, header)
}

// ExportFormat is the form of an exported chat.
type ExportFormat string

// ExportFormats lists the formats.
var ExportFormats = []ExportFormat{"jsonl", "html", "txt"}

// Export chooses a chat to export, and how. Zero values mean the API's defaults.
type Export struct {
	Chat         bridge.JID
	Format       ExportFormat
	Files        bool   // in a zip
	Timezone     string // "" for the bridge's
	Since, Until *bridge.Time
}

// Export returns the response with a whole chat. The caller closes its body.
func (c *Client) Export(ctx context.Context, e Export) (*http.Response, error) {
	files := ""
	if e.Files {
		files = "true"
	}
	path := query{
		"format": string(e.Format), "files": files, "timezone": e.Timezone, "since": timestamp(e.Since), "until": timestamp(e.Until),
	}.on("/api/chats/" + e.Chat.Escaped() + "/export")
	return c.Do(ctx, http.MethodGet, path, nil, nil)
}

// query holds the parameters of a request. Empty ones are left out.
type query map[string]string

func (q query) encode() string {
	values := url.Values{}
	for name, value := range q {
		if value != "" {
			values.Set(name, value)
		}
	}
	return values.Encode()
}

func (q query) on(path string) string {
	if encoded := q.encode(); encoded != "" {
		path += "?" + encoded
	}
	return path
}

// number returns the value of a parameter, "" for 0.
func number(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}

// timestamp returns the value of a parameter or a field, "" for nil.
func timestamp(at *bridge.Time) string {
	if at == nil {
		return ""
	}
	return at.String()
}

// getPage requests one page of a list, or a list without pages.
func getPage[T any](ctx context.Context, c *Client, path, name string) (page bridge.Page[T], err error) {
	answer, err := call[map[string]json.RawMessage](ctx, c, http.MethodGet, path, nil)
	if err == nil {
		err = json.Unmarshal(answer[name], &page.Items)
	}
	if next := answer["nextCursor"]; err == nil && next != nil {
		err = json.Unmarshal(next, &page.NextCursor)
	}
	return page, err
}

func getAll[T any](ctx context.Context, c *Client, path, name string) ([]T, error) {
	page, err := getPage[T](ctx, c, path, name)
	return page.Items, err
}

// pages iterates over a list to its end. It sets the cursor and offset of the query that get
// uses. An error is yielded last.
func pages[T any](get func() (bridge.Page[T], error), cursor *string, offset *int) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for {
			page, err := get()
			if err != nil {
				var none T
				yield(none, err)
				return
			}
			for _, item := range page.Items {
				if !yield(item, nil) {
					return
				}
			}
			if page.NextCursor == nil {
				return
			}
			*cursor, *offset = *page.NextCursor, 0
		}
	}
}

// choice returns the value of a boolean parameter, "" for nil.
func choice(value *bool) string {
	if value == nil {
		return ""
	}
	return strconv.FormatBool(*value)
}

// longestID is longer than the header of a request may be (api/front, maxHead).
const longestID = 8 << 10

// pathID returns an id as one segment of a path, after [cut].
func pathID(id string) string { return bridge.PathID(cut(id)) }

// cut shortens an id that is longer than any real one. An id from elsewhere may have a megabyte.
func cut(id string) string {
	if len(id) > longestID {
		id = id[:longestID] + "…"
	}
	return id
}
