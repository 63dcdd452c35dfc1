package client

import (
	"context"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"
	"unicode"

	"bridged/internal/bridge"
)

// Message is a [Text], [File], [Location], [Poll], [Contacts], [Reaction] or [Forward] to send.
type Message interface{ route() string }

// Quote refers to the message that is answered, by default in the same chat.
type Quote struct {
	QuotedChatJID bridge.JID `json:"quotedChatJid,omitempty"`
	QuotedMsgID   string     `json:"quotedMsgId,omitempty"`
}

// Text is a text message.
type Text struct {
	To       bridge.JID   `json:"jid"`
	Text     string       `json:"text"`
	Mentions []bridge.JID `json:"mentions,omitempty"`
	// MentionAll mentions all other members of a group.
	MentionAll bool `json:"mentionAll,omitempty"`
	// LinkPreview shows the page of the text's first URL; nil means the bridge's default.
	LinkPreview *bool `json:"linkPreview,omitempty"`
	Quote
}

// File is a file that the bridge fetches from a URL.
type File struct {
	To       bridge.JID       `json:"jid"`
	URL      string           `json:"url"`
	Type     bridge.MediaType `json:"type"`
	Caption  string           `json:"caption,omitempty"`
	FileName string           `json:"fileName,omitempty"`
	MimeType string           `json:"mimetype,omitempty"`
	PTT      bool             `json:"ptt,omitempty"`
	Convert  bool             `json:"convert,omitempty"` // a video, into one that the apps play
	GIF      bool             `json:"gif,omitempty"`     // a video, repeated without its sound
	ViewOnce bool             `json:"viewOnce,omitempty"`
	Quote
}

// Location is a place.
type Location struct {
	To        bridge.JID `json:"jid"`
	Latitude  float64    `json:"latitude"`
	Longitude float64    `json:"longitude"`
	Name      string     `json:"name,omitempty"`
	Address   string     `json:"address,omitempty"`
	Quote
}

// Poll is a poll. Without a count, one option may be chosen; with 0, any number.
type Poll struct {
	To              bridge.JID `json:"jid"`
	Name            string     `json:"name"`
	Values          []string   `json:"values"`
	SelectableCount *int       `json:"selectableCount,omitempty"`
	Quote
}

// Contacts is one contact or several.
type Contacts struct {
	To       bridge.JID           `json:"jid"`
	Contacts []bridge.ContactCard `json:"contacts"`
	Quote
}

// Reaction sets the account's reaction on a message; an empty emoji removes it.
type Reaction struct {
	Chat  bridge.JID `json:"chatJid"`
	MsgID string     `json:"msgId"`
	Emoji string     `json:"emoji"`
}

// Forward sends a stored message to another chat.
type Forward struct {
	SourceChat  bridge.JID `json:"sourceChatJid"`
	SourceMsgID string     `json:"sourceMsgId"`
	To          bridge.JID `json:"destJid"`
}

func (Text) route() string     { return "/api/messages/send" }
func (File) route() string     { return "/api/messages/send-media" }
func (Location) route() string { return "/api/messages/send-location" }
func (Poll) route() string     { return "/api/messages/send-poll" }
func (Contacts) route() string { return "/api/messages/send-contact" }
func (Reaction) route() string { return "/api/messages/react" }
func (Forward) route() string  { return "/api/messages/forward" }

// Sent is a message that the network accepted.
type Sent struct {
	ID        string      `json:"msgId"`
	Chat      bridge.JID  `json:"chatJid"`
	Timestamp bridge.Time `json:"timestamp"`
	// SendAt is when it is sent; nil if it was sent.
	SendAt   *bridge.Time `json:"sendAt,omitempty"`
	Replayed bool         `json:"replayed"` // an earlier call with the same key had sent it
}

// Send sends a message. With a key, the call can be repeated until it succeeds, and the message
// is sent only once. Without one ("") it cannot be repeated safely.
func (c *Client) Send(ctx context.Context, m Message, key string) (Sent, error) {
	return c.sentBy(c.Do(ctx, http.MethodPost, m.route(), m, keyed(key)))
}

// Edit replaces the text or the caption of an own message. If mentions is nil, mentions that the
// text still contains stay; an empty list removes all. For the key see Send.
func (c *Client) Edit(ctx context.Context, chat bridge.JID, id, text string, mentions []bridge.JID, key string) (Sent, error) {
	body := map[string]any{"text": text}
	if mentions != nil {
		body["mentions"] = mentions
	}
	return c.sentBy(c.Do(ctx, http.MethodPatch, messagePath(chat, id), body, keyed(key)))
}

// Delete deletes a message for everybody. For the key see Send.
func (c *Client) Delete(ctx context.Context, chat bridge.JID, id, key string) (Sent, error) {
	return c.sentBy(c.Do(ctx, http.MethodDelete, messagePath(chat, id), nil, keyed(key)))
}

// DeleteForMe deletes a message on the account's devices only. For the key see Send.
func (c *Client) DeleteForMe(ctx context.Context, chat bridge.JID, id, key string) (Sent, error) {
	return c.sentBy(c.Do(ctx, http.MethodDelete, messagePath(chat, id)+"?for=me", nil, keyed(key)))
}

// Pin pins a message for everybody in its chat, for "24h", "7d" or "30d". For the key see Send.
func (c *Client) Pin(ctx context.Context, chat bridge.JID, id, duration, key string) (Sent, error) {
	return c.sentBy(c.Do(ctx, http.MethodPost, messagePath(chat, id)+"/pin", map[string]string{"duration": duration}, keyed(key)))
}

// Unpin unpins a message for everybody. For the key see Send.
func (c *Client) Unpin(ctx context.Context, chat bridge.JID, id, key string) (Sent, error) {
	return c.sentBy(c.Do(ctx, http.MethodDelete, messagePath(chat, id)+"/pin", nil, keyed(key)))
}

// Vote replaces the account's vote in a poll, by the names of the options. Without options it
// withdraws the vote. For the key see Send.
func (c *Client) Vote(ctx context.Context, chat bridge.JID, id string, options []string, key string) (Sent, error) {
	body := map[string][]string{"options": append([]string{}, options...)}
	return c.sentBy(c.Do(ctx, http.MethodPost, messagePath(chat, id)+"/vote", body, keyed(key)))
}

// Star stars a message on the account's devices. For the key see Send.
func (c *Client) Star(ctx context.Context, chat bridge.JID, id, key string) (Sent, error) {
	return c.sentBy(c.Do(ctx, http.MethodPost, messagePath(chat, id)+"/star", nil, keyed(key)))
}

// Unstar removes the star of a message. For the key see Send.
func (c *Client) Unstar(ctx context.Context, chat bridge.JID, id, key string) (Sent, error) {
	return c.sentBy(c.Do(ctx, http.MethodDelete, messagePath(chat, id)+"/star", nil, keyed(key)))
}

func (c *Client) sentBy(resp *http.Response, err error) (sent Sent, _ error) {
	if err != nil {
		return sent, err
	}
	defer resp.Body.Close()
	err = c.decode(resp, &sent)
	sent.Replayed = isReplayed(resp)
	return sent, err
}

// Upload describes a file to send. Without a type, the file's bytes determine it.
type Upload struct {
	To          bridge.JID
	FileName    string // on the sender's device
	Type        bridge.MediaType
	Caption     string
	PTT         bool
	Convert     bool // convert a video to a format that the apps play
	GIF         bool // have a video repeated without its sound
	ViewOnce    bool
	QuotedMsgID string
	// QuotedChatJID is the chat of the quoted message, by default the chat To.
	QuotedChatJID bridge.JID
	SendAt        *bridge.Time // when it is sent; nil for now
}

// SendFile sends a file while it is read. For the key see Send.
func (c *Client) SendFile(ctx context.Context, upload Upload, file io.Reader, key string) (sent Sent, err error) {
	err = c.sendForm(ctx, "/api/messages/send-file", func(w *multipart.Writer) error { return upload.write(w, file) }, keyed(key), func(resp *http.Response, err error) error {
		sent, err = c.sentBy(resp, err)
		return err
	})
	return sent, err
}

// Album is pictures and videos that are shown together.
type Album struct {
	To     bridge.JID   `json:"jid"`
	Items  []AlbumItem  `json:"items"`
	SendAt *bridge.Time `json:"sendAt,omitempty"` // when it is sent; nil for now
	Quote
}

// AlbumItem is a picture or a video of an [Album].
type AlbumItem struct {
	URL     string           `json:"url,omitempty"`  // from which the bridge fetches it
	Part    string           `json:"part,omitempty"` // a name of its own, if File is set
	Type    bridge.MediaType `json:"type"`
	Caption string           `json:"caption,omitempty"`
	Convert bool             `json:"convert,omitempty"` // a video, into one that the apps play
	File    io.Reader        `json:"-"`
}

// PictureOrVideo returns what a file or an address has for an album: a video if its name ends like a video's, otherwise
// unknown.
func PictureOrVideo(name string, unknown bridge.MediaType) bridge.MediaType {
	if at, err := url.Parse(name); err == nil && at.Host != "" {
		name = at.Path
	}
	extension := strings.ToLower(path.Ext(name))
	if strings.HasPrefix(mime.TypeByExtension(extension), "video/") || strings.Contains(" .mp4 .m4v .mov .3gp .webm .mkv .avi ", " "+extension+" ") {
		return bridge.MediaVideo
	}
	return unknown
}

// SentAlbum is an album that the network accepted. Sent is the message that announces it. One that is sent later has no
// items yet.
type SentAlbum struct {
	Sent
	Items []Sent `json:"items"`
}

// SendAlbum sends an album. It reads its files while it sends them. With a key, a repeated call sends only the files
// that were not sent; see [Client.Send].
func (c *Client) SendAlbum(ctx context.Context, album Album, key string) (sent SentAlbum, err error) {
	read := func(resp *http.Response, err error) error {
		if err != nil {
			return err
		}
		defer resp.Body.Close()
		err = c.decode(resp, &sent)
		sent.Replayed = isReplayed(resp)
		return err
	}
	const path = "/api/messages/send-album"
	if !slices.ContainsFunc(album.Items, func(item AlbumItem) bool { return item.File != nil }) {
		return sent, read(c.Do(ctx, http.MethodPost, path, album, keyed(key)))
	}
	err = c.sendForm(ctx, path, album.write, keyed(key), read)
	return sent, err
}

// write writes the form: the fields, and then the files.
func (a Album) write(w *multipart.Writer) error {
	items, err := bridge.EncodeJSON(a.Items)
	if err != nil {
		return err
	}
	if err := writeFields(w, [][2]string{{"sendAt", timestamp(a.SendAt)}, {"jid", string(a.To)}, {"quotedMsgId", a.QuotedMsgID}, {"quotedChatJid", string(a.QuotedChatJID)}, {"items", string(items)}}); err != nil {
		return err
	}
	for _, item := range a.Items {
		if item.File == nil {
			continue
		}
		part, err := w.CreateFormFile(item.Part, headerText(item.Part))
		if err == nil {
			_, err = io.Copy(part, item.File)
		}
		if err != nil {
			return err
		}
	}
	return w.Close()
}

// sendForm sends a form while it is written, and passes the response to read.
func (c *Client) sendForm(ctx context.Context, path string, write func(*multipart.Writer) error, header http.Header, read func(*http.Response, error) error) error {
	body, form := io.Pipe()
	writer := multipart.NewWriter(form)
	written := make(chan struct{})
	go func() {
		defer close(written)
		form.CloseWithError(write(writer))
	}()
	// If the request is refused, the transport closes the body before it returns. The writer then
	// ends and reads no more of the file.
	err := read(c.send(ctx, http.MethodPost, path, writer.FormDataContentType(), body, header))
	_ = body.Close() // ends the writer if it is still running
	<-written
	return err
}

// write writes the form. The file comes last.
func (u Upload) write(w *multipart.Writer, file io.Reader) error {
	set := func(on bool) string {
		if on {
			return "true"
		}
		return ""
	}
	return writeForm(w, [][2]string{
		{"sendAt", timestamp(u.SendAt)}, {"jid", string(u.To)}, {"type", string(u.Type)}, {"caption", u.Caption}, {"quotedMsgId", u.QuotedMsgID}, {"quotedChatJid", string(u.QuotedChatJID)}, {"ptt", set(u.PTT)}, {"convert", set(u.Convert)}, {"gif", set(u.GIF)}, {"viewOnce", set(u.ViewOnce)},
	}, u.FileName, file)
}

// writeForm writes the fields that have a value, followed by a file.
func writeForm(w *multipart.Writer, fields [][2]string, name string, file io.Reader) error {
	if err := writeFields(w, fields); err != nil {
		return err
	}
	part, err := w.CreateFormFile("file", headerText(name))
	if err != nil {
		return err
	}
	if _, err := io.Copy(part, file); err != nil {
		return err
	}
	return w.Close()
}

// writeFields writes the fields that have a value.
func writeFields(w *multipart.Writer, fields [][2]string) error {
	for _, field := range fields {
		if field[1] == "" {
			continue
		}
		if err := w.WriteField(field[0], field[1]); err != nil {
			return err
		}
	}
	return nil
}

// headerText removes control characters, which file names may contain.
func headerText(name string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return -1
		}
		return r
	}, name)
}
