// Package album reads requests to send albums.
package album

import (
	"context"
	"encoding/json"
	"fmt"
	"mime/multipart"
	"net/http"
	"strings"

	"bridged/internal/api/callers"
	"bridged/internal/api/content"
	"bridged/internal/api/download"
	"bridged/internal/api/front"
	"bridged/internal/bridge"
	"bridged/internal/media"
)

// Request is an album to send. Its files come from addresses, or from the parts of a form.
type Request struct {
	content.Addressed
	Items []Item `json:"items"`

	batch *media.Batch // nil without a form
	parts map[string]part
}

// Item is a picture or a video.
type Item struct {
	URL      string           `json:"url"`
	Part     string           `json:"part"` // the name of a part of the form
	Type     bridge.MediaType `json:"type"`
	MimeType string           `json:"mimetype"`
	Caption  string           `json:"caption"`
	Convert  bool             `json:"convert"`
}

// part is a file of the form.
type part struct {
	file              *media.Received
	name, contentType string // as the form has them
}

func (i Item) request() media.Request {
	return media.Request{URL: i.URL, Type: i.Type, MimeType: i.MimeType, Caption: i.Caption, Convert: i.Convert}
}

// Close removes the files of the form. It may be called more than once.
func (r *Request) Close() {
	if r.batch != nil {
		r.batch.Close()
	}
}

const (
	formMargin = 1 << 20             // bytes of a form without its files
	mostParts  = bridge.MaxAlbum + 4 // of a form
	noParts    = "part names a part of a form (multipart/form-data): send one, or give url"
)

// IsForm reports whether the request came as a form.
func (r *Request) IsForm() bool { return r.batch != nil }

// ReadForm reads a form while it is received: first the fields, then the files. It returns an empty request
// if the body is not a form.
func ReadForm(w http.ResponseWriter, r *http.Request, p *media.Preparer, bodies front.Bodies) (*Request, error) {
	if !strings.HasPrefix(r.Header.Get("Content-Type"), "multipart/") {
		return new(Request), nil
	}
	if err := p.CheckSize(r.ContentLength, formMargin); err != nil {
		w.Header().Set("Connection", "close") // the body is never read
		return nil, err
	}
	form := front.NewForm(w, r, callers.Of(r.Context()).Tree)
	form.Most = mostParts
	req := &Request{parts: make(map[string]part)}
	req.batch = p.NewBatch(media.Incoming{Declared: form.Length, Tree: form.Sender, Cancel: form.Stop})
	err := form.Each(w, r, func(from *multipart.Part) error { return req.receive(r.Context(), p, &form, bodies, from) })
	if err != nil {
		req.Close()
		return nil, err
	}
	return req, nil
}

// receive reads a field, or receives a file that the items name.
func (r *Request) receive(ctx context.Context, p *media.Preparer, form *front.Form, bodies front.Bodies, from *multipart.Part) (err error) {
	name := from.FormName()
	fields := map[string]*string{"jid": &r.JID, "quotedChatJid": &r.QuotedChatJID, "quotedMsgId": &r.QuotedMsgID, "sendAt": &r.SendAt}
	switch field := fields[name]; {
	case field != nil:
		*field, err = form.Value(ctx, bodies, from)
		return err
	case name == "items":
		text, err := form.Value(ctx, bodies, from)
		if err != nil {
			return err
		}
		decoder := json.NewDecoder(strings.NewReader(text))
		decoder.DisallowUnknownFields()
		if err := decoder.Decode(&r.Items); err != nil || decoder.More() {
			return bridge.Invalid(`items must be a JSON array of objects like {"part": "first", "type": "image", "caption": "", "mimetype": "", "convert": false}`).Because(err)
		}
		return nil
	case !r.names(name):
		return bridge.Invalid("%s is neither a field of this form (jid, items, quotedMsgId, quotedChatJid, sendAt) nor a part that an item names; items come before the files", front.QuotedName(name))
	}
	if err := r.Check(p); err != nil {
		return err
	}
	file, err := r.batch.Receive(ctx, from)
	if err == nil {
		r.parts[name] = part{file, download.PlainName(from.FileName()), from.Header.Get("Content-Type")}
	}
	return err
}

// names reports whether an item names a part.
func (r *Request) names(name string) bool {
	for _, item := range r.Items {
		if name != "" && item.Part == name {
			return true
		}
	}
	return false
}

// Check returns an error if a request cannot be sent, without looking at its files. It does not use the network.
func (r *Request) Check(p *media.Preparer) error {
	if n := len(r.Items); n < bridge.MinAlbum || n > bridge.MaxAlbum {
		return bridge.Invalid("items must have %d to %d pictures and videos", bridge.MinAlbum, bridge.MaxAlbum)
	}
	named := make(map[string]bool)
	for i, item := range r.Items {
		err := r.checkItem(p, item)
		if err == nil && item.Part != "" && named[item.Part] {
			err = bridge.Invalid("part %s is named by two items", front.QuotedName(item.Part))
		}
		if err != nil {
			return bridge.Within(fmt.Sprintf("items[%d]", i), err)
		}
		named[item.Part] = true
	}
	return nil
}

func (r *Request) checkItem(p *media.Preparer, item Item) error {
	switch {
	case (item.URL == "") == (item.Part == ""):
		return bridge.Invalid("give url or part, one of them")
	case item.Part != "" && r.batch == nil:
		return bridge.Invalid(noParts)
	}
	if err := content.CheckFile(item.request(), bridge.MediaImage, bridge.MediaVideo); err != nil {
		return err
	}
	if item.Part != "" {
		return p.CheckReceived(item.request())
	}
	return p.Check(item.request())
}

// Complete checks a request after its files were received. It returns the bytes that identify the request for its
// Idempotency-Key: the body or, for a form, the fields and the hashes of the files.
func (r *Request) Complete(p *media.Preparer, body []byte) (identity []byte, err error) {
	if err := r.Check(p); err != nil {
		return nil, err
	}
	if !r.IsForm() {
		return body, nil
	}
	var hashes [][]byte
	for i, item := range r.Items {
		if item.Part == "" {
			continue
		}
		from, isThere := r.parts[item.Part]
		if !isThere {
			return nil, bridge.Invalid("items[%d]: the form has no part %s", i, front.QuotedName(item.Part))
		}
		hashes = append(hashes, from.file.SHA256)
	}
	return bridge.EncodeJSON(struct {
		*Request
		Hashes [][]byte
	}{r, hashes})
}

// Files returns functions that prepare the files. They fail with the error of ended, which reports whether the
// caller's token has ended.
func (r *Request) Files(p *media.Preparer, ended func() error) (items []bridge.AlbumItem) {
	for _, item := range r.Items {
		items = append(items, func(ctx context.Context) (bridge.File, func(), error) {
			file, cleanup, err := r.prepare(ctx, p, item)
			if err == nil {
				err = ended()
			}
			return file, cleanup, err
		})
	}
	return items
}

func (r *Request) prepare(ctx context.Context, p *media.Preparer, item Item) (file bridge.File, cleanup func(), err error) {
	if item.Part == "" {
		file, cleanup, err = p.Prepare(ctx, item.request())
	} else {
		from := r.parts[item.Part]
		cleanup = from.file.Close
		file, err = p.PrepareReceived(ctx, item.request(), from.file, from.name, from.contentType)
	}
	if err == nil && file.GIF {
		err = bridge.Invalid("the apps show no GIFs in albums: send it alone")
	}
	return file, cleanup, err
}

// Prepare prepares the files of an album that is sent later. fits returns an error if so many bytes may not be stored. cleanup removes
// the files.
func Prepare(ctx context.Context, items []bridge.AlbumItem, fits func(bytes int64) error) (files bridge.AlbumFiles, cleanup func(), err error) {
	var cleanups []func()
	cleanup = func() {
		for _, remove := range cleanups {
			remove()
		}
	}
	bytes := int64(0)
	for i, prepare := range items {
		file, remove, err := prepare(ctx)
		cleanups = append(cleanups, remove)
		if err != nil {
			return nil, cleanup, bridge.Within(fmt.Sprintf("items[%d]", i), err)
		}
		files, bytes = append(files, file), bytes+file.Size
		if err := fits(bytes); err != nil {
			return nil, cleanup, err
		}
	}
	return files, cleanup, nil
}
