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

// file is a file to send. ID is that of an uploaded or received file, Link the address of one to fetch.
type file struct {
	ID       string      `json:"id"`
	Link     string      `json:"link"`
	Caption  compat.Text `json:"caption"`
	FileName compat.Text `json:"filename"`
	Voice    compat.Flag `json:"voice"`
}

// sendFile sends a file of a kind.
func (a adapter) sendFile(c *compat.Call, f file, kind bridge.MediaType, chat bridge.JID, quote client.Quote) (bridge.Message, error) {
	if f.ID == "" && f.Link == "" {
		return bridge.Message{}, bridge.Invalid("%s has neither id nor link: give the id of an uploaded file, or an address to fetch", kind)
	}
	if ref, isReceived := parseFileID(f.ID); isReceived {
		return sendAgain(c, f, ref, client.Upload{To: chat, Type: kind, QuotedMsgID: quote.QuotedMsgID, QuotedChatJID: quote.QuotedChatJID})
	}
	if f.ID != "" {
		uploaded, err := a.uploads.open(c.API.Token(), f.ID)
		if err != nil {
			return bridge.Message{}, err
		}
		defer uploaded.Close()
		c.Upload = uploaded
	}
	out := compat.Outgoing{Kind: kind, Address: f.Link, Caption: string(f.Caption), Name: string(f.FileName), Voice: bool(f.Voice)}
	return out.Send(c, chat, quote)
}

// sendAgain sends the file of a stored message.
func sendAgain(c *compat.Call, f file, ref messageRef, as client.Upload) (m bridge.Message, err error) {
	if err := maySend(c); err != nil { // before anything is downloaded
		return m, err
	}
	as.Caption, as.FileName = string(f.Caption), cmp.Or(string(f.FileName), "file")
	return m, c.Deliver(&m, func() (client.Sent, error) {
		return compat.SendAudio(bool(f.Voice) && as.Type == bridge.MediaAudio, func(voice bool) (client.Sent, error) {
			resp, err := c.API.File(c.Context(), http.MethodGet, ref.Chat, ref.ID, nil)
			if err != nil {
				return client.Sent{}, err
			}
			defer resp.Body.Close()
			as.PTT = voice
			return c.API.SendFile(c.Context(), as, resp.Body, c.Key())
		})
	})
}

// show describes the account's number or a file.
func (a adapter) show(c *compat.Call) (any, error) {
	id := c.PathValue("id")
	if !strings.HasPrefix(id, uploadPrefix) && !strings.HasPrefix(id, filePrefix) {
		account, err := accountOf(c, id)
		if err != nil {
			return nil, err
		}
		return numberOf(c, account)
	}
	resp, err := a.open(c, http.MethodHead, id)
	if err != nil {
		return nil, err
	}
	size, _ := strconv.ParseInt(resp.Header.Get("Content-Length"), 10, 64) // of our own answer
	return object{
		"messaging_product": "whatsapp", "id": id, "url": a.base(c) + "/media/" + id + "/content",
		"mime_type": resp.Header.Get("Content-Type"), "sha256": strings.Trim(resp.Header.Get("ETag"), `"`), "file_size": size,
	}, resp.Body.Close()
}

// base returns the adapter's address from the caller's view. Under its prefix, that is the PUBLIC_URL with the
// call's host.
func (a adapter) base(c *compat.Call) string {
	own := c.Base()
	if !strings.HasSuffix(own, Prefix) || len(a.options.PublicURLs) == 0 {
		return own
	}
	public := a.options.PublicURLs[0]
	for _, known := range a.options.PublicURLs {
		if known.Host == c.Host {
			public = known
		}
	}
	return public.Scheme + "://" + public.Host + public.Path + Prefix
}

// download returns a file. Of a message's file it returns the range that the caller asks for.
func (a adapter) download(c *compat.Call) (any, error) {
	return a.open(c, http.MethodGet, c.PathValue("id"))
}

// open returns an uploaded or received file, or only its header if the method is HEAD.
func (a adapter) open(c *compat.Call, method, id string) (*http.Response, error) {
	if ref, isReceived := parseFileID(id); isReceived {
		header := c.Header
		if method == http.MethodHead { // the caller's conditions are for the description, not for the file
			header = nil
		}
		resp, err := c.API.File(c.Context(), method, ref.Chat, ref.ID, header)
		if bridge.CodeOf(err) == bridge.CodeNotFound {
			err = missing(c.Request, id)
		}
		return resp, err
	}
	uploaded, err := a.uploads.open(c.API.Token(), id)
	if err != nil {
		return nil, missing(c.Request, id)
	}
	return &http.Response{StatusCode: http.StatusOK, Body: fileBody{uploaded.Open(), uploaded.File}, Header: http.Header{
		"Content-Type": {uploaded.MimeType}, "Content-Length": {strconv.FormatInt(uploaded.Size(), 10)}, "Etag": {`"` + a.uploads.sum(id) + `"`},
		"Content-Disposition": {"attachment"}, "Content-Security-Policy": {"default-src 'none'; sandbox"}, // browsers must not show it
	}}, nil
}

// fileBody is the body of an answer with a file.
type fileBody struct {
	io.Reader
	file compat.File
}

// Close closes the file.
func (b fileBody) Close() error {
	b.file.Close()
	return nil
}

// remove removes an uploaded file. It refuses files of messages.
func (a adapter) remove(c *compat.Call) (any, error) {
	id := c.PathValue("id")
	if _, isReceived := parseFileID(id); isReceived {
		return nil, bridge.Invalid("bridged does not remove files of messages, and nothing was changed: they go with their messages")
	}
	if err := maySend(c); err != nil {
		return nil, err
	}
	if err := a.uploads.remove(c.API.Token(), id); err != nil {
		return nil, missing(c.Request, id)
	}
	return done, nil
}

// upload stores a file that is sent by its id later.
func (a adapter) upload(c *compat.Call) (any, error) {
	var in struct {
		Type compat.Text `json:"type"`
	}
	if err := c.DecodeOptional(&in); err != nil {
		return nil, err
	}
	if err := maySend(c); err != nil {
		return nil, err
	}
	if c.Upload == nil {
		return nil, bridge.Invalid("the file is missing: send a form with the part file, its type and messaging_product")
	}
	id, err := a.uploads.store(c.API.Token(), c.Token, c.Upload, string(in.Type))
	return object{"id": id}, err
}

// maySend refuses a token without the scope send, before a file is stored or downloaded for it.
func maySend(c *compat.Call) error {
	own, err := c.API.OwnToken(c.Context())
	if err == nil && !own.Allows(bridge.ScopeSend) {
		err = bridge.Fail(bridge.CodeForbidden, "this token lacks the scope send")
	}
	return err
}
