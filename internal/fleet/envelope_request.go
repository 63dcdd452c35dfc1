package fleet

import (
	"bytes"
	"cmp"
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

// refuse refuses event streams and long polls. The error names the NATS stream to read instead.
func (e *envelope) refuse(events string) error {
	if e.url.Path != "/api/events" || e.Method != http.MethodGet && e.Method != http.MethodHead {
		return nil
	}
	if strings.Contains(strings.ToLower(e.header.Get("Accept")), "text/event-stream") {
		return bridge.Fail(CodeNotOverNATS, "an event stream does not end, so it cannot be an answer: read the NATS stream %s instead", events)
	}
	if wait := e.url.Query().Get("wait"); strings.Trim(wait, "0s") != "" {
		return bridge.Fail(CodeNotOverNATS, "wait would occupy a slot while nothing happens: read the NATS stream %s instead, or ask for a page without wait", events)
	}
	return nil
}

// request returns the envelope's HTTP request. file is the file of its form, or nil.
func (e *envelope) request(ctx context.Context, file *storedFile) (*http.Request, error) {
	body, contentType := io.Reader(http.NoBody), ""
	switch {
	case e.Form != nil:
		body, contentType = e.multipart(ctx, file)
	case e.body != nil:
		body, contentType = bytes.NewReader(e.body), jsonType
	}
	req, err := http.NewRequestWithContext(ctx, e.Method, "http://nats"+e.Path, body)
	if err != nil {
		return nil, invalidEnvelope("path cannot be used").Because(err)
	}
	req.Header = e.header
	if contentType != "" && (e.Form != nil || req.Header.Get("Content-Type") == "") {
		req.Header.Set("Content-Type", contentType)
	}
	return req, nil
}

// multipart encodes the form while it is read. The fields come first, so that the API can refuse
// them before the file is read.
func (e *envelope) multipart(ctx context.Context, file *storedFile) (io.Reader, string) {
	r, w := io.Pipe()
	form := multipart.NewWriter(w)
	go func() { w.CloseWithError(e.writeForm(ctx, form, file)) }()
	return r, form.FormDataContentType()
}

func (e *envelope) writeForm(ctx context.Context, form *multipart.Writer, file *storedFile) error {
	for _, name := range slices.Sorted(maps.Keys(e.Form)) {
		if err := form.WriteField(name, e.Form[name]); err != nil {
			return err
		}
	}
	if file != nil {
		part, err := form.CreatePart(e.File.header())
		if err != nil {
			return err
		}
		if err := file.copyTo(ctx, part); err != nil {
			return err
		}
	}
	return form.Close()
}

// header returns the MIME header of the file's part.
func (f *fileIn) header() textproto.MIMEHeader {
	given := map[string]string{"name": "file", "filename": cmp.Or(f.FileName, "file")}
	head := textproto.MIMEHeader{"Content-Disposition": {mime.FormatMediaType("form-data", given)}}
	if f.ContentType != "" {
		head.Set("Content-Type", f.ContentType)
	}
	return head
}
