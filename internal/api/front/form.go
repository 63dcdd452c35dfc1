package front

import (
	"cmp"
	"context"
	"errors"
	"io"
	"mime/multipart"
	"net/http"
	"os"
	"strconv"
	"unicode/utf8"

	"bridged/internal/bridge"
	"bridged/internal/intake"
)

const (
	// MaxField bounds the value of a form's field, in bytes: a caption of 65,536 characters.
	MaxField = 65536 * utf8.UTFMax
	// maxFieldsText bounds all fields of a form together.
	maxFieldsText = MaxField + 64<<10
	// MaxFields bounds the parts of a form.
	MaxFields = 16
)

// Form has the parts of a form (RFC 7578) that were received.
type Form struct {
	given map[string]bool

	Sender int64  // the token tree of its sender
	Stop   func() // ends the reading
	Length int64  // declared length of the whole form; negative if unknown
	Most   int    // parts; 0 for [MaxFields]
	text   int    // bytes of the fields so far
}

// NewForm returns the form of a request by a token tree. Each of its pieces has its own deadline.
func NewForm(w http.ResponseWriter, r *http.Request, tree int64) Form {
	return Form{given: make(map[string]bool), Length: r.ContentLength, Sender: tree, Stop: intake.CancelBody(w, r.Body)}
}

// Each calls take for each part of a form, once for each name.
func (p *Form) Each(w http.ResponseWriter, r *http.Request, take func(*multipart.Part) error) error {
	r.Body = Chunks(w, r.Body)
	from, err := intake.NewParts(r)
	if err != nil {
		return bridge.Invalid("Content-Type must be multipart/form-data with a boundary, as curl -F and forms send it").Because(err)
	}
	for err == nil {
		var part *multipart.Part
		if part, err = from.Next(); err == nil {
			if err = p.note(part.FormName()); err == nil {
				err = take(part)
			}
		}
	}
	if !errors.Is(err, io.EOF) {
		w.Header().Set("Connection", "close") // the rest is not read
		return FormFault(r.Context(), err)
	}
	BodyRead(w)
	return nil
}

func (p *Form) note(name string) error {
	switch {
	case p.given[name]:
		return bridge.Invalid("%s is given more than once", QuotedName(name))
	case len(p.given) >= cmp.Or(p.Most, MaxFields):
		return bridge.Invalid("the form has more than %d parts", cmp.Or(p.Most, MaxFields))
	}
	p.given[name] = true
	return nil
}

// Value reads a field. It releases the memory before the next field is read, because forms that
// hold memory while they wait for more would wait for each other forever.
func (p *Form) Value(ctx context.Context, bodies Bodies, part *multipart.Part) (string, error) {
	name := part.FormName()
	value, reserved, err := bodies.Read(ctx, intake.Source{Reader: part, Declared: -1, Most: MaxField, Tree: p.Sender, Cancel: p.Stop})
	defer reserved.Release()
	p.text += len(value)
	switch {
	case errors.Is(err, intake.ErrBodyTooLarge):
		return "", bridge.Fail(bridge.CodePayloadTooLarge, "%s is larger than %d bytes", QuotedName(name), MaxField)
	case err != nil:
		return "", err
	case p.text > maxFieldsText:
		return "", bridge.Fail(bridge.CodePayloadTooLarge, "the fields next to the file are larger than %d bytes together", maxFieldsText)
	case !utf8.Valid(value):
		return "", bridge.Invalid("%s is not valid UTF-8", QuotedName(name))
	}
	return string(value), nil
}

// QuotedName quotes a caller's name, shortened.
func QuotedName(name string) string { return strconv.Quote(Shortened(name, 60)) }

// FormFault returns the error of a form that could not be read to its end.
func FormFault(ctx context.Context, err error) error {
	var known *bridge.Error
	switch {
	case errors.As(err, &known):
		return err
	case errors.Is(err, intake.ErrPartHeader):
		return bridge.Fail(bridge.CodePayloadTooLarge, "the head of a part of the form is larger than 32 KiB")
	case errors.Is(err, os.ErrDeadlineExceeded): // which ends the context too
		return bridge.Invalid("the body did not arrive in time: no piece of it may take longer than %.0f seconds", BodyTimeout.Seconds()).Because(err)
	case errors.Is(err, intake.ErrTooSlow), ctx.Err() != nil:
		return BodyFault(ctx, err)
	}
	return bridge.Invalid("the body is damaged or incomplete: send all of it").Because(err)
}
