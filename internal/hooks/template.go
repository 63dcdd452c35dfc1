package hooks

import (
	"bytes"
	"errors"
	"net/http"
	"regexp"
	"strings"
	template "github.com/DataDog/datadog-agent/pkg/template/text"
	"time"

	"bridged/internal/bridge"
)

const (
	maxSource = 16 << 10 // bytes of a template
	maxOutput = 64 << 10 // bytes of a text
	maxTime   = time.Second
)

// Template makes texts of payloads.
type Template struct {
	name    string              // of a shipped one
	byEvent map[string]*program // of a shipped one that has one for each event
	always  *program
}

// program is one checked text/template.
type program struct{ template *template.Template }

// Parse reads the name of a shipped template, or a text/template. What it
// refuses is a [bridge.CodeInvalid] that names the place.
func Parse(source string) (*Template, error) {
	if t, found := shipped()[source]; found {
		return t, nil
	}
	switch {
	case strings.TrimSpace(source) == "":
		return nil, bridge.Invalid("template is required: %s", choices())
	case len(source) > maxSource:
		return nil, bridge.Invalid("template must have at most %d bytes", maxSource)
	case !strings.Contains(source, "{{"):
		return nil, bridge.Invalid("template must be %s", choices())
	}
	p, err := compile(source)
	if err != nil {
		return nil, err
	}
	return &Template{always: p}, nil
}

// choices returns what a template can be.
func choices() string {
	return "one of " + strings.Join(Names(), ", ") + ", or a template with {{ }}, such as {{.payload.title}}"
}

// templateName stands before the place in what text/template reports.
const templateName = "template"

// compile parses a text/template, checks it and makes it safe to run. Forms send
// line breaks as CRLF.
func compile(source string) (*program, error) {
	source = strings.ReplaceAll(source, "\r\n", "\n")
	parsed, err := template.New(templateName).Funcs(new(run).functions()).Parse(source)
	if err != nil {
		return nil, bridge.Invalid("template: %s", parseProblem(err))
	}
	if err := check(parsed); err != nil {
		return nil, err
	}
	secure(parsed.Root)
	return &program{parsed}, nil
}

// TakesText reports whether the payload is the body as it stands, whatever its
// type.
func (t *Template) TakesText() bool { return t.name == textName }

// Needs refuses headers without which the template has nothing to say of any
// payload: for those who try it out.
func (t *Template) Needs(header http.Header) error {
	if t.byEvent == nil || eventOf(header) != "" {
		return nil
	}
	return bridge.Invalid("headers must name the event, such as %q: the template %s has a text for each", "X-Gitea-Event: push", t.name)
}

// Render returns the text of a payload. It is empty where the template has
// nothing to say. A template that fails, or goes beyond its limits, is a
// [bridge.CodeTemplateFailed].
func (t *Template) Render(payload any, header http.Header) (string, error) {
	p := t.always
	if t.byEvent != nil {
		p = t.byEvent[eventOf(header)]
	}
	if p == nil {
		return "", nil
	}
	return p.render(payload, header)
}

func (p *program) render(payload any, header http.Header) (string, error) {
	clone, err := p.template.Clone()
	if err != nil {
		return "", err
	}
	r := &run{header: header, deadline: time.Now().Add(maxTime)}
	out := &limitedWriter{}
	data := map[string]any{"payload": payload, "headers": headersOf(header)}
	if err := clone.Funcs(r.functions()).Execute(out, data); err != nil {
		return "", failed(err)
	}
	return strings.TrimSpace(out.String()), nil
}

// headersOf returns the headers of a delivery without those that open doors.
func headersOf(header http.Header) map[string]any {
	headers := make(map[string]any, len(header))
	for name := range header {
		switch name {
		case "Authorization", "Cookie", "Proxy-Authorization":
		default:
			headers[name] = header.Get(name)
		}
	}
	return headers
}

// limitedWriter ends an execution that writes more than a text can hold.
type limitedWriter struct{ bytes.Buffer }

func (w *limitedWriter) Write(p []byte) (int, error) {
	if w.Len()+len(p) > maxOutput {
		return 0, errTooLong
	}
	return w.Buffer.Write(p)
}

// The limits of a run. They end it as errors of its functions or its writer.
var (
	errTooLong   = errors.New("the text is longer than 64 KiB")
	errTooMuch   = errors.New("it does too much: shorten its loops")
	errTooSlow   = errors.New("it takes longer than a second")
	errNotAList  = errors.New("range goes over lists and objects only")
	errBadFormat = errors.New("printf takes widths up to 99, and neither * nor [ ]")
)

// place finds line and column in what text/template reports.
var place = regexp.MustCompile(`^template: ` + templateName + `:(\d+)(?::(\d+))?:? ?`)

// parseProblem returns what is wrong with a source, and where.
func parseProblem(err error) string {
	return placed(err.Error(), place.ReplaceAllString(err.Error(), ""))
}

// placed puts the place of a report before a problem.
func placed(report, problem string) string {
	found := place.FindStringSubmatch(report)
	switch {
	case found == nil:
		return problem
	case found[2] == "":
		return "line " + found[1] + ": " + problem
	}
	return "line " + found[1] + ", column " + found[2] + ": " + problem
}

// failed returns the error of a run that did not end well.
func failed(err error) error {
	problem := err.Error()
	for _, limit := range []error{errTooLong, errTooMuch, errTooSlow, errNotAList, errBadFormat} {
		if errors.Is(err, limit) {
			problem = limit.Error()
		}
	}
	if _, said, found := strings.Cut(problem, ">: "); found {
		problem = said
	}
	if call, said, found := strings.Cut(problem, ": "); found && strings.HasPrefix(call, "error calling ") {
		problem = said
	}
	return bridge.Fail(bridge.CodeTemplateFailed, "the hook's template failed: %s", placed(err.Error(), problem))
}
