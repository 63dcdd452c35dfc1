// Package hooks turns the posts of other services (incoming webhooks) into texts for a chat: it
// parses payloads, checks signatures, identifies deliveries and renders templates.
//
// [Parse] accepts the name of a shipped template or a text/template. It refuses templates that
// could run for long. [Template.Render] is limited to a second and 64 KiB. Only the template's
// own text can contain markup; text of a payload is shown as it is.
//
// The package knows neither the store nor the account, and sends nothing; the API does that.
package hooks

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"text/template"
	"time"

	"bridged/internal/bridge"
)

const (
	maxSource  = 16 << 10 // bytes of a template
	maxOutput  = 64 << 10 // bytes of a text
	runTimeout = time.Second
)

// Template makes texts from payloads.
type Template struct {
	name    string                        // of a shipped template
	byEvent map[string]*template.Template // of a shipped template with a text for each event
	always  *template.Template
}

// Parse parses the name of a shipped template, or a text/template. Its errors are
// [bridge.CodeInvalid] and name the position.
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

// choices lists the forms of a template, for a sentence.
func choices() string {
	return "one of " + strings.Join(Names(), ", ") + ", or a template with {{ }}, such as {{.payload.title}}"
}

// templateName precedes the position in errors of text/template.
const templateName = "template"

// compile parses a text/template, checks it and rewrites it so that it is safe to run. It accepts
// CRLF line breaks, which forms send.
func compile(source string) (*template.Template, error) {
	source = strings.ReplaceAll(source, "\r\n", "\n")
	parsed, err := template.New(templateName).Funcs(new(run).functions()).Parse(source)
	if err != nil {
		return nil, bridge.Invalid("template: %s", placed(err.Error(), place.ReplaceAllString(err.Error(), "")))
	}
	return parsed, secure(parsed)
}

// TakesText reports whether the payload is the body itself, whatever its type.
func (t *Template) TakesText() bool { return t.name == textName }

// Needs returns an error if the template has no text for any payload with these headers.
func (t *Template) Needs(header http.Header) error {
	if t.byEvent == nil || eventOf(header) != "" {
		return nil
	}
	return bridge.Invalid("headers must name the event, such as %q: the template %s has a text for each", "X-Gitea-Event: push", t.name)
}

// Render returns the text for a payload, or "" if the template has none. If the template fails or
// exceeds its limits, the error is [bridge.CodeTemplateFailed].
func (t *Template) Render(payload any, header http.Header) (string, error) {
	p := t.always
	if t.byEvent != nil {
		p = t.byEvent[eventOf(header)]
	}
	if p == nil {
		return "", nil
	}
	clone, err := p.Clone()
	if err != nil {
		return "", err
	}
	r := &run{header: header, deadline: time.Now().Add(runTimeout)}
	out := &limitedWriter{}
	data := map[string]any{"payload": payload, "headers": headersOf(header)}
	if err := clone.Funcs(r.functions()).Execute(out, data); err != nil {
		return "", failed(err)
	}
	return strings.TrimSpace(out.String()), nil
}

// headersOf returns the headers of a delivery without credentials.
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

// limitedWriter fails when an execution writes more than maxOutput.
type limitedWriter struct{ bytes.Buffer }

func (w *limitedWriter) Write(p []byte) (int, error) {
	if w.Len()+len(p) > maxOutput {
		return 0, errTooLong
	}
	return w.Buffer.Write(p)
}

// These errors end a run. Its functions or its writer return them.
const (
	errTooLong   limitError = "the text is longer than 64 KiB"
	errTooMuch   limitError = "it does too much: shorten its loops"
	errTooSlow   limitError = "it takes longer than a second"
	errNotAList  limitError = "range goes over lists and objects only"
	errBadFormat limitError = "printf accepts widths up to 99, and neither * nor [ ]"
)

type limitError string

func (e limitError) Error() string { return string(e) }

// place matches line and column in errors of text/template.
var place = regexp.MustCompile(`^template: ` + templateName + `:(\d+)(?::(\d+))?:? ?`)

// placed prefixes a problem with the position in a report.
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

// failed returns the error for a run that failed.
func failed(err error) error {
	problem := err.Error()
	if limit, ok := errors.AsType[limitError](err); ok {
		problem = limit.Error()
	}
	if _, said, found := strings.Cut(problem, ">: "); found {
		problem = said
	}
	if call, said, found := strings.Cut(problem, ": "); found && strings.HasPrefix(call, "error calling ") {
		problem = said
	}
	return bridge.Fail(bridge.CodeTemplateFailed, "the hook's template failed: %s", placed(err.Error(), problem))
}

// textName is the template that sends bodies unchanged.
const textName = "text"

//go:embed templates
var templateFiles embed.FS

// Names returns the names of the shipped templates.
func Names() []string {
	return []string{"alertmanager", "gitea", "github", "grafana", "json", textName, "uptime-kuma"}
}

// shipped returns the shipped templates by name. Code hosts have a directory with one file for
// each event.
var shipped = sync.OnceValue(func() map[string]*Template {
	templates := make(map[string]*Template)
	for _, name := range Names() {
		templates[name] = &Template{name: name}
	}
	err := fs.WalkDir(templateFiles, "templates", func(file string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		name, event, isOfEvent := strings.Cut(strings.TrimSuffix(strings.TrimPrefix(file, "templates/"), ".tmpl"), "/")
		of := templates[name]
		switch {
		case !isOfEvent:
			of.always = mustCompile(file)
		case of.byEvent == nil:
			of.byEvent = map[string]*template.Template{event: mustCompile(file)}
		default:
			of.byEvent[event] = mustCompile(file)
		}
		return nil
	})
	if err != nil {
		panic(err)
	}
	return templates
})

// mustCompile compiles a shipped file under the same rules as user templates.
func mustCompile(file string) *template.Template {
	source, err := templateFiles.ReadFile(file)
	if err != nil {
		panic(err)
	}
	compiled, err := compile(string(source))
	if err != nil {
		panic(fmt.Sprintf("hooks: %s: %v", file, err))
	}
	return compiled
}
