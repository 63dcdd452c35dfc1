package explorer

import (
	"html/template"
	"io"
	"mime/multipart"
	"net/textproto"
	"slices"
	"time"

	"bridged/internal/console/frame"
)

const uploadTimeout = 10 * time.Minute // for a call that takes a file

// toFillIn returns the fields of the form that calls an operation, but for a file.
func (op operation) toFillIn() []field {
	if !op.TakesFile {
		return op.Parameters
	}
	fields := slices.Clone(op.Parameters)
	for _, property := range op.Body {
		if property.In = "form"; property.Name != "file" {
			fields = append(fields, property)
		}
	}
	return fields
}

// TryUpload calls an operation that takes a file, as its form says, while the file arrives.
func TryUpload(req *frame.Request) error {
	page, err := operationOf(req)
	if err != nil {
		return err
	}
	if !page.Op.TakesFile {
		return frame.ErrNotFound
	}
	names := []string{"confirm", "once"}
	for _, f := range page.Op.toFillIn() {
		names = append(names, f.toTry().Key)
	}
	fields, file, err := req.FileForm(names...)
	if err != nil {
		return err
	}
	f := frame.NewForm(fields)
	if err := fillIn(req, &page, f); err != nil {
		return err
	}
	if page.FileName = file.FileName(); page.FileName == "" {
		f.Refuse("file", "Choose a file.")
	}
	body, kind, end := page.formOf(file.Header, file)
	defer end()
	return runOperation(req, page, body, kind, uploadTimeout)
}

// formOf returns the form of a call, which is written while it is read, until end.
func (page operationPage) formOf(head textproto.MIMEHeader, file io.Reader) (body io.Reader, kind string, end func()) {
	read, write := io.Pipe()
	form := multipart.NewWriter(write)
	written := make(chan struct{})
	go func() {
		defer close(written)
		write.CloseWithError(page.writeForm(form, head, file))
	}()
	return read, form.FormDataContentType(), func() {
		_ = read.Close() // ends the writer, if it has not ended
		<-written
	}
}

// writeForm writes the form of a call, the file last.
func (page operationPage) writeForm(form *multipart.Writer, head textproto.MIMEHeader, file io.Reader) error {
	for _, f := range page.Fields {
		if f.In != "form" || f.Value == "" {
			continue
		}
		if err := form.WriteField(f.Name, f.Value); err != nil {
			return err
		}
	}
	part, err := form.CreatePart(head)
	if err != nil {
		return err
	}
	if _, err := io.Copy(part, file); err != nil {
		return err
	}
	return form.Close()
}

// Functions are functions for the templates of the explorer.
var Functions = template.FuncMap{"blocks": blocks, "inline": inline}
