package explorer

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"time"

	"bridged/internal/bridge"
	"bridged/internal/client"
	"bridged/internal/console/frame"
	"bridged/internal/console/names"
	"bridged/internal/console/view"
)

// operationPage describes one operation, with a form that calls it.
type operationPage struct {
	Groups    []operationGroup
	Op        operation
	Fields    []tryField
	Body      string // as it was typed
	FileName  string // of the file that was chosen
	Confirmed bool
	Once      string // the key of the form
	Wrong     map[string]string
	Result    *result
}

// tryField is a parameter to fill in.
type tryField struct {
	field
	Key    string // its name in the form
	Value  string
	Choice names.Choice
}

// toTry returns the form field of a parameter. A required one starts with its example.
func (p field) toTry() tryField {
	f := tryField{field: p, Key: p.In + "." + p.Name}
	if p.Required {
		f.Value = p.Example
	}
	return f
}

// result is the API's answer.
type result struct {
	Status  int
	Text    string // of the status
	Good    bool
	TookMS  int64
	Headers []answer
	Body    string
	Cut     bool
	File    string // the address of a file; empty if the body is text
	Curl    string // the same call
}

const (
	callTimeout = 45 * time.Second // for one call, which may wait for events
	maxAnswer   = 256 << 10        // bytes of an answer that are shown
)

// operationOf returns the operation that the path names, among all of them.
func operationOf(req *frame.Request) (page operationPage, _ error) {
	d, err := documentOf(req)
	if err != nil {
		return page, err
	}
	page.Groups = d.page().Groups
	for _, group := range page.Groups {
		for _, op := range group.Operations {
			if op.OperationID == req.PathValue("operation") {
				page.Op = op
				return page, nil
			}
		}
	}
	return page, frame.ErrNotFound
}

// ShowOperation shows an operation with its form.
func ShowOperation(req *frame.Request) error {
	page, err := operationOf(req)
	if err != nil {
		return err
	}
	page.Body = page.Op.Sample
	for _, parameter := range page.Op.toFillIn() {
		shown := parameter.toTry()
		switch {
		case parameter.Name == "Idempotency-Key":
			shown.Value = frame.NewKey()
		case parameter.IsChat && parameter.Required && !page.Op.Writes:
			if shown.Choice, err = latestChat(req, parameter); err != nil {
				return err
			}
		}
		page.Fields = append(page.Fields, shown)
	}
	return showOperationWith(req, http.StatusOK, page)
}

func showOperationWith(req *frame.Request, status int, page operationPage) (err error) {
	page.Once = frame.NewKey()
	return req.ShowAs(status, "operation", page.Op.Summary, page)
}

// latestChat returns the latest chat of the kind that a parameter takes.
func latestChat(req *frame.Request, parameter field) (names.Choice, error) {
	query := bridge.ChatQuery{Limit: 1}
	switch {
	case parameter.OfGroup:
		query.Type = bridge.ChatsGroup
	case parameter.OfPerson:
		query.Type = bridge.ChatsIndividual
	}
	chats, err := req.API.Chats(req.Context(), query)
	if err != nil || len(chats.Items) == 0 {
		return names.Choice{}, err
	}
	return names.ChoiceOf(req, chats.Items[0].JID), nil
}

// TryOperation calls an operation with the visitor's token and shows the answer.
func TryOperation(req *frame.Request) error {
	page, err := operationOf(req)
	if err != nil {
		return err
	}
	if page.Op.TakesFile {
		return frame.ErrNotFound
	}
	if err := fillIn(req, &page, req.Filled()); err != nil {
		return err
	}
	if strings.TrimSpace(page.Body) == "" {
		return runOperation(req, page, http.NoBody, "", callTimeout)
	}
	return runOperation(req, page, strings.NewReader(page.Body), page.Op.Kind, callTimeout)
}

// runOperation calls an operation if its form has no errors, and shows the answer.
func runOperation(req *frame.Request, page operationPage, body io.Reader, kind string, most time.Duration) (err error) {
	if page.Op.Writes && !page.Confirmed {
		page.Wrong["confirm"] = "Check this box to run the call."
	}
	if len(page.Wrong) > 0 {
		return showOperationWith(req, http.StatusBadRequest, page)
	}
	if page.Op.Writes && req.IsRepeated(page.Once, page.Op.pagePath()) {
		return nil
	}
	if page.Result, err = try(req, page, body, kind, most); err != nil {
		return err
	}
	for i := range page.Fields {
		if page.Fields[i].Name == "Idempotency-Key" && page.Result.Good {
			page.Fields[i].Value = frame.NewKey() // the next call is another one
		}
	}
	return showOperationWith(req, http.StatusOK, page)
}

// fillIn reads the form into the page.
func fillIn(req *frame.Request, page *operationPage, f *frame.Form) (err error) {
	page.Once = f.Get("once")
	page.Body, page.Confirmed, page.Wrong = strings.ReplaceAll(f.Get("body"), "\r\n", "\n"), f.Get("confirm") != "", f.Wrong
	for _, parameter := range page.Op.toFillIn() {
		shown := parameter.toTry()
		shown.Value = strings.TrimSpace(f.Get(shown.Key))
		if parameter.IsChat {
			if shown.Choice, err = names.ChooseOne(req, f, shown.Key); err != nil {
				return err
			}
			if shown.Value = ""; len(shown.Choice.Chosen) > 0 {
				shown.Value = string(shown.Choice.Chosen[0].JID)
			}
		}
		if parameter.Required && shown.Value == "" {
			f.Refuse(shown.Key, "Fill this in: the call needs it.")
		}
		page.Fields = append(page.Fields, shown)
	}
	if page.Op.Kind == "application/json" && strings.TrimSpace(page.Body) != "" && !json.Valid([]byte(page.Body)) {
		f.Refuse("body", "This isn’t valid JSON. Check the quotes, commas and brackets.")
	}
	return nil
}

// address returns the path of a call with its query.
func (page operationPage) address() string {
	path, query := page.Op.Path, url.Values{}
	for _, f := range page.Fields {
		switch {
		case f.In == "path":
			path = strings.ReplaceAll(path, "{"+f.Name+"}", url.PathEscape(f.Value))
		case f.In == "query" && f.Value != "":
			query.Set(f.Name, f.Value)
		}
	}
	if len(query) > 0 {
		path += "?" + query.Encode()
	}
	return path
}

// pagePath returns the address of an operation's page.
func (op operation) pagePath() string { return view.Root + "/api/" + op.OperationID }

// filePath returns the address of the file that a call answers with.
func (page operationPage) filePath() string {
	query := url.Values{}
	for _, f := range page.Fields {
		if f.Value != "" {
			query.Set(f.Key, f.Value)
		}
	}
	return page.Op.pagePath() + "/file?" + query.Encode()
}

// call sends the request of a form to the API in this process.
func call(ctx context.Context, req *frame.Request, page operationPage, body io.Reader, kind string) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, page.Op.Method, "http://in-process"+page.address(), body)
	if err != nil {
		return nil, err
	}
	for _, f := range page.Fields {
		if f.In == "header" && f.Value != "" {
			r.Header.Set(f.Name, f.Value)
		}
	}
	r.Header.Add("Prefer", "handling=strict")
	if kind != "" {
		r.Header.Set("Content-Type", kind)
	}
	return client.Transport(req.Handler(), "in-process").RoundTrip(r)
}

// try calls an operation and returns its answer for the page.
func try(req *frame.Request, page operationPage, body io.Reader, kind string, most time.Duration) (*result, error) {
	logged, end := req.UntilLoggedOut()
	defer end()
	ctx, cancel := context.WithTimeout(logged, most)
	defer cancel()
	began := time.Now()
	resp, err := call(ctx, req, page, body, kind)
	if errors.Is(err, context.DeadlineExceeded) {
		return nil, frame.Refused(http.StatusGatewayTimeout, fmt.Sprintf("The call took longer than %d seconds, so the console stopped waiting.", int(most.Seconds())))
	}
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	shown := &result{
		Status: resp.StatusCode, Text: http.StatusText(resp.StatusCode), Good: resp.StatusCode < http.StatusBadRequest,
		Headers: headersOf(resp.Header), Curl: page.curl(),
	}
	answered, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type")) // a malformed type counts as a file
	switch {
	case answered == "" && resp.ContentLength == 0, strings.HasPrefix(answered, "text/"), answered == "application/json", answered == "application/yaml":
		err = shown.read(resp.Body)
	case page.Op.Writes:
		shown.Body = "This answer can’t be shown here."
	default:
		shown.File = page.filePath()
	}
	shown.TookMS = time.Since(began).Milliseconds()
	return shown, err
}

// read reads the beginning of an answer and indents JSON.
func (r *result) read(body io.Reader) error {
	content, err := io.ReadAll(io.LimitReader(body, maxAnswer+1))
	if len(content) > maxAnswer {
		content, r.Cut = content[:maxAnswer], true
	}
	var out bytes.Buffer
	if r.Cut || json.Indent(&out, content, "", "  ") != nil {
		out.Reset()
		out.Write(content)
	}
	r.Body = strings.ToValidUTF8(strings.TrimSpace(out.String()), "\ufffd")
	return err
}

// headersOf returns the headers of an answer that callers act on.
func headersOf(h http.Header) (shown []answer) {
	for _, name := range []string{
		"Content-Type", "Content-Length", "Content-Range", "Content-Disposition", "Etag", "Location", "Retry-After", "Idempotency-Replayed", "X-Request-Id",
	} {
		if value := h.Get(name); value != "" {
			shown = append(shown, answer{name, value})
		}
	}
	return shown
}

// curl returns the line that makes the same call.
func (page operationPage) curl() string {
	var arguments []string
	for _, f := range page.Fields {
		switch {
		case f.Value == "":
		case f.In == "header":
			arguments = append(arguments, "-H "+view.ShellQuoted(f.Name+": "+f.Value))
		case f.In == "form":
			arguments = append(arguments, "-F "+view.ShellQuoted(f.Name+"="+f.Value))
		}
	}
	if page.FileName != "" {
		arguments = append(arguments, "-F "+view.ShellQuoted("file=@"+page.FileName))
	}
	var body any
	if page.Op.Kind == "application/json" && json.Valid([]byte(page.Body)) {
		body = json.RawMessage(page.Body)
	}
	return view.Curl(page.Op.Method, page.address(), body, arguments...)
}

// OpenFile answers with the file that an operation returns. Browsers do not run it.
func OpenFile(req *frame.Request) error {
	page, err := operationOf(req)
	if err != nil {
		return err
	}
	if page.Op.Writes {
		return frame.ErrNotFound
	}
	f := frame.NewForm(req.URL.Query())
	if err := fillIn(req, &page, f); err != nil {
		return err
	}
	ctx, cancel := req.UntilLoggedOut()
	defer cancel()
	resp, err := call(ctx, req, page, http.NoBody, "")
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode >= http.StatusMultipleChoices {
		return frame.Refused(resp.StatusCode, "The file can’t be opened anymore. Run the call again to see why.")
	}
	req.SendFile(resp, false, "private, no-cache")
	return nil
}
