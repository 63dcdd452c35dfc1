package cloud

import (
	"cmp"
	"io"
	"net/http"
	"strconv"
	"strings"

	"bridged/internal/bridge"
	"bridged/internal/client"
	"bridged/internal/compat"
)

// file is a file to send: one that was uploaded or received, or one to be fetched.
type file struct {
	ID       string      `json:"id"`
	Link     string      `json:"link"`
	Caption  compat.Text `json:"caption"`
	FileName compat.Text `json:"filename"`
	Voice    compat.Flag `json:"voice"`
}

// sendFile sends a file of a kind.
func (d door) sendFile(c *compat.Call, f file, kind bridge.MediaType, chat bridge.JID, quote client.Quote) (client.Sent, error) {
	if f.ID == "" && f.Link == "" {
		return client.Sent{}, bridge.Invalid("%s has neither id nor link: give the id of an uploaded file, or an address to fetch", kind)
	}
	if ref, isReceived := parseFileID(f.ID); isReceived {
		return sendAgain(c, f, ref, client.Upload{To: chat, Type: kind, QuotedMsgID: quote.QuotedMsgID, QuotedChatJID: quote.QuotedChatJID})
	}
	if f.ID != "" {
		uploaded, err := d.uploads.open(c.API.Token(), f.ID)
		if err != nil {
			return client.Sent{}, err
		}
		defer uploaded.Close()
		c.Upload = uploaded
	}
	out := compat.Outgoing{Kind: kind, Address: f.Link, Caption: string(f.Caption), Name: string(f.FileName), Voice: bool(f.Voice)}
	sent, _, err := out.Send(c, chat, quote)
	return sent, err
}

// sendAgain sends the file of a message that the bridge has.
func sendAgain(c *compat.Call, f file, ref messageRef, as client.Upload) (client.Sent, error) {
	if err := maySend(c); err != nil { // before anything is downloaded
		return client.Sent{}, err
	}
	as.Caption, as.FileName = string(f.Caption), cmp.Or(string(f.FileName), "file")
	return compat.Trying(bool(f.Voice) && as.Type == bridge.MediaAudio, func(voice bool) (client.Sent, error) {
		resp, err := c.API.File(c.Context(), http.MethodGet, ref.Chat, ref.ID, nil)
		if err != nil {
			return client.Sent{}, err
		}
		defer resp.Body.Close()
		as.PTT = voice
		return c.API.SendFile(c.Context(), as, resp.Body, c.Key())
	})
}

// show describes the account's number, or a file with the address of its bytes.
func (d door) show(c *compat.Call) (compat.Answer, error) {
	id := c.PathValue("id")
	if !strings.HasPrefix(id, uploadPrefix) && !strings.HasPrefix(id, filePrefix) {
		account, err := accountOf(c, id)
		if err != nil {
			return compat.Answer{}, err
		}
		number, err := numberOf(c, account)
		return compat.Answer{Status: http.StatusOK, Body: number}, err
	}
	resp, err := d.open(c, http.MethodHead, id)
	if err != nil {
		return compat.Answer{}, err
	}
	size, _ := strconv.ParseInt(resp.Header.Get("Content-Length"), 10, 64) // of our own answer
	return compat.Answer{Status: http.StatusOK, Body: object{
		"messaging_product": "whatsapp", "id": id, "url": d.base(c) + "/media/" + id + "/content",
		"mime_type": resp.Header.Get("Content-Type"), "sha256": strings.Trim(resp.Header.Get("ETag"), `"`), "file_size": size,
	}}, resp.Body.Close()
}

// base returns the address of the door as the caller reaches it. PUBLIC_URL names those
// below which the door has its prefix.
func (d door) base(c *compat.Call) string {
	own := c.Base()
	if !strings.HasSuffix(own, Prefix) || len(d.options.PublicURLs) == 0 {
		return own
	}
	public := d.options.PublicURLs[0]
	for _, known := range d.options.PublicURLs {
		if known.Host == c.Host {
			public = known
		}
	}
	return public.Scheme + "://" + public.Host + public.Path + Prefix
}

// download answers the bytes of a file, or of a message's the part that the caller asks for.
func (d door) download(c *compat.Call) (compat.Answer, error) {
	resp, err := d.open(c, http.MethodGet, c.PathValue("id"))
	return compat.Answer{Relay: resp}, err
}

// open answers a file that was uploaded or received, or only what describes it.
func (d door) open(c *compat.Call, method, id string) (*http.Response, error) {
	if ref, isReceived := parseFileID(id); isReceived {
		asked := c.Header
		if method == http.MethodHead { // of what describes the file, they mean the description
			asked = nil
		}
		resp, err := c.API.File(c.Context(), method, ref.Chat, ref.ID, asked)
		if bridge.CodeOf(err) == bridge.CodeNotFound {
			err = missing(c.Request, id)
		}
		return resp, err
	}
	uploaded, err := d.uploads.open(c.API.Token(), id)
	if err != nil {
		return nil, missing(c.Request, id)
	}
	return &http.Response{StatusCode: http.StatusOK, Body: fileBody{uploaded.Open(), uploaded.File}, Header: http.Header{
		"Content-Type": {uploaded.MimeType}, "Content-Length": {strconv.FormatInt(uploaded.Size(), 10)}, "Etag": {`"` + d.uploads.sum(id) + `"`},
		"Content-Disposition": {"attachment"}, "Content-Security-Policy": {"default-src 'none'; sandbox"}, // no browser shows it
	}}, nil
}

// fileBody is a file as the body of an answer.
type fileBody struct {
	io.Reader
	file compat.File
}

// Close closes the file.
func (b fileBody) Close() error {
	b.file.Close()
	return nil
}

// remove removes an uploaded file. Files of messages stay with these.
func (d door) remove(c *compat.Call) (compat.Answer, error) {
	id := c.PathValue("id")
	if _, isReceived := parseFileID(id); isReceived {
		return compat.Answer{}, bridge.Invalid("bridged does not remove files of messages, and nothing was changed: they go with their messages")
	}
	if err := maySend(c); err != nil {
		return compat.Answer{}, err
	}
	if err := d.uploads.remove(c.API.Token(), id); err != nil {
		return compat.Answer{}, missing(c.Request, id)
	}
	return compat.OK(done)
}

// upload keeps a file, to be sent by its id.
func (d door) upload(c *compat.Call) (compat.Answer, error) {
	var in struct {
		Type compat.Text `json:"type"`
	}
	if err := c.DecodeOptional(&in); err != nil {
		return compat.Answer{}, err
	}
	if err := maySend(c); err != nil {
		return compat.Answer{}, err
	}
	if c.Upload == nil {
		return compat.Answer{}, bridge.Invalid("the file is missing: send a form with the part file, its type and messaging_product")
	}
	id, err := d.uploads.keep(c.API.Token(), c.Token, c.Upload, string(in.Type))
	if err != nil {
		return compat.Answer{}, err
	}
	return compat.OK(object{"id": id})
}

// maySend refuses a caller that may send nothing, before the API does: a file is kept to be
// sent.
func maySend(c *compat.Call) error {
	own, err := c.API.OwnToken(c.Context())
	if err == nil && !own.Allows(bridge.ScopeSend) {
		err = bridge.Fail(bridge.CodeForbidden, "the token has not the scope send, which files to send need")
	}
	return err
}
