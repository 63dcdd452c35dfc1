package client

import (
	"context"
	"io"
	"mime/multipart"
	"net/http"
	"strings"
	"unicode"

	"bridged/internal/bridge"
)

// Upload describes a file that is sent with the request. Without a type the
// bytes decide.
type Upload struct {
	To          bridge.JID
	FileName    string // on the sender's device
	Type        bridge.MediaType
	Caption     string
	PTT         bool
	QuotedMsgID string
}

// SendFile sends a file while it is read. With a key, the call can be repeated
// until it is answered.
func (c *Client) SendFile(ctx context.Context, upload Upload, file io.Reader, key string) (sent Sent, err error) {
	body, form := io.Pipe()
	writer := multipart.NewWriter(form)
	written := make(chan struct{})
	go func() {
		defer close(written)
		form.CloseWithError(upload.write(writer, file))
	}()
	// The transport closes the body before it returns from a refusal; the writer
	// ends then, and no longer reads the file.
	sent, err = sentBy(c.send(ctx, http.MethodPost, "/api/messages/send-file", writer.FormDataContentType(), body, keyed(key)))
	_ = body.Close() // ends the writer, if it has not ended
	<-written
	return sent, err
}

// write writes the form, the file last.
func (u Upload) write(w *multipart.Writer, file io.Reader) error {
	ptt := ""
	if u.PTT {
		ptt = "true"
	}
	for _, field := range [][2]string{
		{"jid", string(u.To)}, {"type", string(u.Type)}, {"caption", u.Caption}, {"quotedMsgId", u.QuotedMsgID}, {"ptt", ptt},
	} {
		if field[1] == "" {
			continue
		}
		if err := w.WriteField(field[0], field[1]); err != nil {
			return err
		}
	}
	part, err := w.CreateFormFile("file", headerText(u.FileName))
	if err != nil {
		return err
	}
	if _, err := io.Copy(part, file); err != nil {
		return err
	}
	return w.Close()
}

// headerText returns a name as a header can have it: without control characters,
// which files may have in theirs.
func headerText(name string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return -1
		}
		return r
	}, name)
}
