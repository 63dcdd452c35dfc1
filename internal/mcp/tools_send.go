package mcp

import (
	"bytes"
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"bridged/internal/bridge"
	"bridged/internal/client"
)

// toChat names a chat to write to.
type toChat struct {
	JID bridge.JID `json:"jid" jsonschema:"the exact JID of a chat that may be written to"`
}

func (to toChat) chat() bridge.JID { return to.JID }

// once makes a send repeatable.
type once struct {
	Key string `json:"idempotencyKey,omitempty" jsonschema:"repeat a call with the same key to be sure that it is sent once"`
}

type sendText struct {
	toChat
	Text string `json:"text"`
	once
}

type reply struct {
	toChat
	MsgID string `json:"msgId" jsonschema:"the message of that chat to answer"`
	Text  string `json:"text"`
	once
}

type react struct {
	toChat
	MsgID string `json:"msgId" jsonschema:"the message of that chat to react to"`
	Emoji string `json:"emoji" jsonschema:"one emoji; empty removes the reaction"`
}

type sendFile struct {
	toChat
	URL      string `json:"url,omitempty" jsonschema:"a public http or https address to fetch the file from; or give data"`
	Data     string `json:"data,omitempty" jsonschema:"the file in base64, at most 700 KiB; or give url"`
	Type     string `json:"type" jsonschema:"image, video, audio or document"`
	FileName string `json:"fileName,omitempty"`
	Caption  string `json:"caption,omitempty"`
	once
}

// addSend registers a tool that sends the message which compose makes of its arguments.
func addSend[In aboutChat](d door, name, title, description string, compose func(In) (outgoing, error)) {
	add(d, name, title, description, true, func(c call, ctx context.Context, in In) (*sdk.CallToolResult, answer, error) {
		out, err := compose(in)
		if err != nil {
			return nil, nil, err
		}
		out.chat = in.chat()
		return c.send(ctx, out)
	})
}

func (d door) addSends() {
	addSend(d, "send_text", "Send a text", "Sends a text to a chat.", func(in sendText) (outgoing, error) {
		return outgoing{key: in.Key, shown: in.Text, message: client.Text{To: in.JID, Text: in.Text}}, nil
	})
	addSend(d, "reply", "Reply", "Answers a message with a text that quotes it.", func(in reply) (outgoing, error) {
		return outgoing{
			key: in.Key, shown: fmt.Sprintf("in answer to %q:\n%s", in.MsgID, in.Text),
			message: client.Text{To: in.JID, Text: in.Text, Quote: client.Quote{QuotedMsgID: in.MsgID}},
		}, nil
	})
	addSend(d, "react", "React", "Reacts to a message with an emoji.", func(in react) (outgoing, error) {
		return outgoing{shown: "the reaction " + in.Emoji, message: client.Reaction{Chat: in.JID, MsgID: in.MsgID, Emoji: in.Emoji}}, nil
	})
	addSend(d, "send_file", "Send a file", "Sends a file to a chat.", composeFile)
}

// maxFile limits a file in a call, in bytes: in base64 it fits a body.
const maxFile = 700 << 10

func composeFile(in sendFile) (outgoing, error) {
	data, err := base64.StdEncoding.DecodeString(in.Data)
	if err != nil {
		return outgoing{}, bridge.Invalid("data must be base64, with its padding")
	}
	out := outgoing{key: in.Key, shown: fmt.Sprintf("a file (%s), named %q, from %q, with the caption:\n%s", in.Type, in.FileName, in.URL, in.Caption)}
	switch {
	case (in.URL == "") == (len(data) == 0):
		return outgoing{}, bridge.Invalid("give the file as url or as data, one of them")
	case len(data) > maxFile:
		return outgoing{}, bridge.Invalid("data holds more than %d KiB: give a url", maxFile>>10)
	case in.URL != "":
		out.message = client.File{To: in.JID, URL: in.URL, Type: bridge.MediaType(in.Type), FileName: in.FileName, Caption: in.Caption}
	default:
		out.upload = &upload{client.Upload{To: in.JID, FileName: in.FileName, Type: bridge.MediaType(in.Type), Caption: in.Caption}, data}
	}
	return out, nil
}

// outgoing is a message or a file that a tool sends.
type outgoing struct {
	chat    bridge.JID
	key     string
	shown   string // to the person who confirms it
	message client.Message
	upload  *upload
}

type upload struct {
	client.Upload
	Data []byte
}

// send sends a message once the chat is allowed, a person has confirmed it, where the
// operator wants that, and the limit is kept.
func (c call) send(ctx context.Context, out outgoing) (*sdk.CallToolResult, answer, error) {
	if allowed := c.s.options.Chats; allowed != nil && !slices.Contains(allowed, out.chat) { // the API checks those of the token
		return nil, nil, bridge.NoChat(out.chat)
	}
	if ask, err := c.confirm(out); ask != nil || err != nil {
		return ask, nil, err
	}
	if err := c.s.takeSend(c.family); err != nil {
		return nil, nil, err
	}
	out.key = cmp.Or(out.key, rand.Text())
	var sent client.Sent
	var err error
	if out.upload != nil {
		sent, err = c.client.SendFile(ctx, out.upload.Upload, bytes.NewReader(out.upload.Data), out.key)
	} else {
		sent, err = c.client.Send(ctx, out.message, out.key)
	}
	if err != nil {
		return nil, nil, err
	}
	return nil, answer{"chatJid": sent.Chat, "msgId": sent.ID, "timestamp": sent.Timestamp, "idempotencyKey": out.key}, nil
}

const confirmation = "confirm"

// confirm returns the question to a person until it is answered; nil if sends need no
// confirmation. An answer counts for the send that was shown.
func (c call) confirm(out outgoing) (*sdk.CallToolResult, error) {
	if !c.s.options.Confirm {
		return nil, nil
	}
	shown, err := json.Marshal([]any{c.req.Params.Name, out.message, out.upload})
	if err != nil {
		return nil, err
	}
	if !canAsk(c.req.ClientCapabilities()) {
		return nil, bridge.Fail(bridge.CodeForbidden, "a person must confirm each send, and this client cannot ask one: use a client with elicitation")
	}
	mac := hmac.New(sha256.New, c.s.key) // binds the answer to the token and this send
	fmt.Fprintf(mac, "%s\n%s", c.id, shown)
	state := hex.EncodeToString(mac.Sum(nil))
	response, ok := c.req.Params.InputResponses[confirmation].(*sdk.ElicitResult)
	switch {
	case !ok || c.req.Params.RequestState != state:
		return &sdk.CallToolResult{RequestState: state, InputRequests: sdk.InputRequestMap{confirmation: &sdk.ElicitParams{
			Mode:            "form",
			Message:         fmt.Sprintf("Send this to the chat %s?\n\n%s", out.chat, capped(out.shown, maxLong)),
			RequestedSchema: map[string]any{"type": "object", "properties": map[string]any{}},
		}}}, nil
	case response.Action != "accept":
		return nil, bridge.Fail(bridge.CodeForbidden, "the person at the other end did not confirm this; do not try again")
	}
	return nil, nil
}

// canAsk reports whether a client can show a person a question. One that names
// no kind of questions can show these (protocol of 2025-06-18).
func canAsk(client *sdk.ClientCapabilities) bool {
	return client != nil && client.Elicitation != nil && (client.Elicitation.Form != nil || client.Elicitation.URL == nil)
}

// maxInline limits a picture that an answer holds, in bytes.
const maxInline = 1 << 20

var inlineTypes = []string{"image/jpeg", "image/png", "image/webp", "image/gif"}

type getMedia struct {
	inChat
	MsgID string `json:"msgId" jsonschema:"the message with the file"`
}

func (c call) media(ctx context.Context, in getMedia) (*sdk.CallToolResult, answer, error) {
	info, err := c.client.MediaInfo(ctx, in.JID, in.MsgID)
	if err != nil {
		return nil, nil, err
	}
	shown := answer{"chatJid": in.JID, "downloadUrl": info.DownloadURL, "untrusted": answer{
		"file": fileOf(info), "caption": capped(info.Caption, maxShort),
	}}
	if info.Size > maxInline || !slices.Contains(inlineTypes, info.MimeType) {
		return nil, shown, nil
	}
	file, _, err := c.client.Download(ctx, in.JID, in.MsgID)
	if err != nil {
		return nil, nil, err
	}
	data, err := io.ReadAll(io.LimitReader(file, maxInline+1))
	if err = errors.Join(err, file.Close()); err != nil || len(data) > maxInline {
		return nil, shown, err
	}
	text, err := shown.text()
	return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: text}, &sdk.ImageContent{Data: data, MIMEType: info.MimeType}}}, shown, err
}
