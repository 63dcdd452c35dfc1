package fleet

import (
	"bytes"
	"context"
	"io"
	"maps"
	"mime"
	"mime/multipart"
	"net/http"
	"net/textproto"
	"slices"
	"strings"

	"bridged/internal/bridge"
)

const jsonType = "application/json"

// refuse returns what to do instead of a request that makes no sense as one
// question and one answer; nil for all others. events is the stream of events.
func (e *envelope) refuse(events string) error {
	if e.route != "/api/events" || e.method != http.MethodGet && e.method != http.MethodHead {
		return nil
	}
	if strings.Contains(strings.ToLower(e.headers.Get("Accept")), "text/event-stream") {
		return bridge.Fail(CodeNotOverNATS, "a stream of events has no end, so that it is no answer: read the stream %s instead", events)
	}
	if wait := e.query.Get("wait"); strings.Trim(wait, "0s") != "" {
		return bridge.Fail(CodeNotOverNATS, "wait would keep a place for a request that does nothing: read the stream %s instead, or ask for a page without wait", events)
	}
	return nil
}

// request returns the HTTP request that an envelope stands for. file is the file
// of a form; nil for none.
func (e *envelope) request(ctx context.Context, file io.Reader) (*http.Request, error) {
	body, contentType := io.Reader(http.NoBody), ""
	switch {
	case e.form != nil:
		body, contentType = e.multipart(file)
	case e.body != nil:
		body, contentType = bytes.NewReader(e.body), jsonType
	}
	req, err := http.NewRequestWithContext(ctx, e.method, "http://nats"+e.path, body)
	if err != nil {
		return nil, invalidEnvelope("path cannot be used").Because(err)
	}
	req.Header = e.headers.Clone()
	if contentType != "" && (e.form != nil || req.Header.Get("Content-Type") == "") {
		req.Header.Set("Content-Type", contentType)
	}
	return req, nil
}

// multipart writes a form while it is read: its fields first, so that what is
// wrong with them is known before the file comes.
func (e *envelope) multipart(file io.Reader) (io.Reader, string) {
	r, w := io.Pipe()
	form := multipart.NewWriter(w)
	go func() { w.CloseWithError(e.writeForm(form, file)) }()
	return r, form.FormDataContentType()
}

func (e *envelope) writeForm(form *multipart.Writer, file io.Reader) error {
	for _, name := range slices.Sorted(maps.Keys(e.form)) {
		if err := form.WriteField(name, e.form[name]); err != nil {
			return err
		}
	}
	if file != nil {
		part, err := form.CreatePart(e.file.header())
		if err != nil {
			return err
		}
		if _, err := io.Copy(part, file); err != nil {
			return err
		}
	}
	return form.Close()
}

// header returns the head of a file's part.
func (f *fileIn) header() textproto.MIMEHeader {
	given := map[string]string{"name": "file", "filename": f.fileName}
	if f.fileName == "" {
		given["filename"] = "file"
	}
	head := textproto.MIMEHeader{"Content-Disposition": {mime.FormatMediaType("form-data", given)}}
	if f.contentType != "" {
		head.Set("Content-Type", f.contentType)
	}
	return head
}
