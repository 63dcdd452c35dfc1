package mcp

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"net/url"
	"path"
	"slices"
	"strings"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"bridged/internal/bridge"
	"bridged/internal/client"
)

// toChat names a chat to write to.
type toChat struct {
	JID bridge.JID `json:"jid" jsonschema:"the exact JID of a chat that may be written to"`
}

func (to toChat) chat() bridge.JID { return to.JID }

// idempotent has the idempotency key of a send.
type idempotent struct {
	Key string `json:"idempotencyKey,omitempty" jsonschema:"repeat a call with the same key to be sure that it is sent once"`
}

// timed has the time of a send.
type timed struct {
	SendAt string `json:"sendAt,omitempty" jsonschema:"send it later: RFC 3339 with its zone, such as 2026-11-21T08:15:00+01:00"`
}

// at returns the time, nil for now.
func (t timed) at() (*bridge.Time, error) {
	if t.SendAt == "" {
		return nil, nil
	}
	at, err := time.Parse(time.RFC3339, t.SendAt)
	if err != nil {
		return nil, bridge.Invalid("sendAt must be a date and time with a zone, like 2026-11-21T08:15:30+01:00")
	}
	return new(bridge.At(at)), nil
}

type sendText struct {
	toChat
	Text string `json:"text"`
	timed
	idempotent
}

type reply struct {
	toChat
	MsgID string `json:"msgId" jsonschema:"the message of that chat to answer"`
	Text  string `json:"text"`
	timed
	idempotent
}

type react struct {
	toChat
	MsgID string `json:"msgId" jsonschema:"the message of that chat to react to"`
	Emoji string `json:"emoji" jsonschema:"one emoji; empty removes the reaction"`
}

type sendFile struct {
	toChat
	URL      string   `json:"url,omitempty" jsonschema:"a public http or https address to fetch the file from; or give data or urls"`
	Data     string   `json:"data,omitempty" jsonschema:"the file in base64, at most 700 KiB; or give url or urls"`
	URLs     []string `json:"urls,omitempty" jsonschema:"2 to 30 addresses of pictures and videos, sent as one album with one caption"`
	Type     string   `json:"type" jsonschema:"image, video, audio or document; with urls, of those whose name does not end like a video's"`
	FileName string   `json:"fileName,omitempty"`
	Caption  string   `json:"caption,omitempty"`
	ViewOnce bool     `json:"viewOnce,omitempty" jsonschema:"an image or a video that the recipients see once"`
	timed
	idempotent
}

// addSend registers a tool that sends the message that compose returns.
func addSend[In aboutChat](r registry, name, title, description string, compose func(In) (draft, error)) {
	add(r, name, title, description, true, func(c call, ctx context.Context, in In) (*sdk.ImageContent, *sentAnswer, error) {
		out, err := compose(in)
		if err != nil {
			return nil, nil, err
		}
		out.chat = in.chat()
		if later, ok := any(in).(interface{ at() (*bridge.Time, error) }); ok {
			at, err := later.at()
			if err != nil {
				return nil, nil, err
			}
			out = out.sentAt(at)
		}
		sent, err := c.send(ctx, out)
		return nil, sent, err
	})
}

func (r registry) addSends() {
	addSend(r, "send_text", "Send a text", "Sends a text to a chat.", func(in sendText) (draft, error) {
		return draft{key: in.Key, what: "this text", text: in.Text, message: client.Text{To: in.JID, Text: in.Text}}, nil
	})
	addSend(r, "reply", "Reply", "Answers a message with a text that quotes it.", func(in reply) (draft, error) {
		return draft{
			key: in.Key, what: "this reply", about: in.MsgID, text: in.Text,
			message: client.Text{To: in.JID, Text: in.Text, Quote: client.Quote{QuotedMsgID: in.MsgID}},
		}, nil
	})
	addSend(r, "react", "React", "Reacts to a message with an emoji.", func(in react) (draft, error) {
		out := draft{what: "the reaction " + capped(in.Emoji, maxName), about: in.MsgID, message: client.Reaction{Chat: in.JID, MsgID: in.MsgID, Emoji: in.Emoji}}
		if in.Emoji == "" {
			out.what = "no reaction any more"
		}
		return out, nil
	})
	addSend(r, "send_file", "Send a file", "Sends a file to a chat, or several pictures and videos as an album.", composeFile)
	r.addChanges()
	add(r, "cancel_scheduled", "Cancel a scheduled message", "Erases a message that list_scheduled shows, before it is sent.", true, call.cancelScheduled)
}

// maxFile limits a file in a call, in bytes, so that its base64 fits in a body.
const maxFile = 700 << 10

func composeFile(in sendFile) (draft, error) {
	if len(in.URLs) > 0 {
		return composeAlbum(in)
	}
	data, err := base64.StdEncoding.DecodeString(in.Data)
	if err != nil {
		return draft{}, bridge.Invalid("data must be base64, with its padding")
	}
	out := draft{key: in.Key, text: in.Caption}
	switch {
	case (in.URL == "") == (len(data) == 0):
		return draft{}, bridge.Invalid("give the file as url or as data, one of them, or several as urls")
	case len(data) > maxFile:
		return draft{}, bridge.Invalid("data has more than %d KiB: give a url", maxFile>>10)
	case in.URL != "":
		out.what = fmt.Sprintf("the %s %s from %s", capped(in.Type, maxName), quoted(fileName(in)), capped(in.URL, maxShort))
		out.message = client.File{To: in.JID, URL: in.URL, Type: bridge.MediaType(in.Type), FileName: in.FileName, Caption: in.Caption, ViewOnce: in.ViewOnce}
	default:
		out.what = fmt.Sprintf("the %s %s of %d bytes", capped(in.Type, maxName), quoted(fileName(in)), len(data))
		out.upload = &upload{client.Upload{To: in.JID, FileName: in.FileName, Type: bridge.MediaType(in.Type), Caption: in.Caption, ViewOnce: in.ViewOnce}, data}
	}
	if in.ViewOnce {
		out.what += " (to be seen once)"
	}
	return out, nil
}

// composeAlbum composes an album of files that the bridge fetches.
func composeAlbum(in sendFile) (draft, error) {
	switch {
	case in.URL != "" || in.Data != "":
		return draft{}, bridge.Invalid("give urls alone, without url and data")
	case in.ViewOnce || in.FileName != "":
		return draft{}, bridge.Invalid("viewOnce and fileName are for one file: an album has neither")
	}
	album, listed := &client.Album{To: in.JID}, ""
	for i, address := range in.URLs {
		item := client.AlbumItem{URL: address, Type: client.PictureOrVideo(address, bridge.MediaType(in.Type))}
		if i == 0 {
			item.Caption = in.Caption
		}
		album.Items = append(album.Items, item)
		listed += "\n" + capped(address, maxShort)
	}
	what := fmt.Sprintf("the album of %d pictures and videos", len(in.URLs))
	return draft{key: in.Key, what: what, text: strings.TrimSpace(in.Caption + "\n" + listed), album: album}, nil
}

// fileName returns the name of a file that is sent.
func fileName(in sendFile) string {
	if at, err := url.Parse(in.URL); in.FileName == "" && err == nil {
		return path.Base(at.Path)
	}
	return in.FileName
}

// draft is a message, a file or an album that a tool sends. The person who confirms the send sees its
// description, its text, and the message that it answers or reacts to.
type draft struct {
	chat    bridge.JID
	key     string
	what    string // the description
	about   string // the id of a message
	text    string
	message client.Message
	upload  *upload
	album   *client.Album
	change  change // instead of a message
	lead    string // of the question to a person; empty for Send
	link    string // between the description and the chat; empty for to
}

// sentAt returns a draft that is sent at a time; nil is now.
func (d draft) sentAt(at *bridge.Time) draft {
	switch {
	case at == nil:
		return d
	case d.upload != nil:
		d.upload.SendAt = at
	case d.album != nil:
		d.album.SendAt = at
	default:
		d.message = client.Later{Message: d.message, At: *at}
	}
	d.what += " at " + at.String()
	return d
}

type upload struct {
	client.Upload
	Data []byte
}

type sentAnswer struct {
	ChatJID        bridge.JID   `json:"chatJid"`
	MsgID          string       `json:"msgId"`
	Timestamp      bridge.Time  `json:"timestamp"`
	IdempotencyKey string       `json:"idempotencyKey"`
	SendAt         *bridge.Time `json:"sendAt,omitempty"`
	Replayed       bool         `json:"replayed"` // an earlier call with this key had sent it
}

func (a *sentAnswer) compact() any {
	if a.SendAt != nil {
		return map[string]any{"sendAt": a.SendAt, "msgId": a.MsgID}
	}
	return map[string]any{"sent": true, "msgId": a.MsgID}
}

// send sends a message if the chat is allowed, a person has confirmed it (if the operator requires
// that), and the rate is not exceeded.
func (c call) send(ctx context.Context, out draft) (*sentAnswer, error) {
	if err := c.mayWrite(ctx, out.chat); err != nil {
		return nil, err
	}
	out.key = cmp.Or(out.key, rand.Text())
	rate, counted := c.s.rateOf(c.tree), c.id+" "+out.key
	if err := rate.refuse(counted); err != nil { // before a person is asked
		return nil, err
	}
	if err := c.confirm(ctx, out); err != nil {
		return nil, err
	}
	done, err := rate.start(counted)
	if err != nil {
		return nil, err
	}
	var sent client.Sent
	switch {
	case out.change != nil:
		sent, err = out.change.apply(ctx, c.client, out.key)
	case out.upload != nil:
		sent, err = c.client.SendFile(ctx, out.upload.Upload, bytes.NewReader(out.upload.Data), out.key)
	case out.album != nil:
		var album client.SentAlbum
		album, err = c.client.SendAlbum(ctx, *out.album, out.key)
		sent = album.Sent
	default:
		sent, err = c.client.Send(ctx, out.message, out.key)
	}
	done(err == nil && !sent.Replayed || mayHaveLeft(err))
	if err != nil {
		return nil, err
	}
	return &sentAnswer{sent.Chat, sent.ID, sent.Timestamp, out.key, sent.SendAt, sent.Replayed}, nil
}

// mayHaveLeft reports whether a send may have reached the network although it failed.
func mayHaveLeft(err error) bool {
	code := bridge.CodeOf(err)
	return err != nil && (code == bridge.CodeSendTimeout || code == bridge.CodeInternal)
}

// mayWrite refuses a chat that the operator does not name. The API checks the token's chats.
func (c call) mayWrite(ctx context.Context, jid bridge.JID) error {
	allowed := c.s.options.Chats
	if allowed == nil || slices.Contains(allowed, jid) {
		return nil
	}
	if _, err := c.client.Chat(ctx, jid); bridge.CodeOf(err) == bridge.CodeNotFound {
		return err
	}
	return bridge.Fail(bridge.CodeForbidden, "agents may not write to this chat: MCP_SEND_CHATS in the bridge's environment does not name it; status shows the chats that it names")
}
