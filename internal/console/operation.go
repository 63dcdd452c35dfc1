package console

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
)

// operationPage describes one operation, with a form that calls it.
type operationPage struct {
	Groups    []operationGroup
	Op        operation
	Fields    []tryField
	Body      string // as it was typed
	FileName  string // of the file that was chosen
	Confirmed bool
	Wrong     map[string]string
	Known     []named
	Result    *result
}

// tryField is a parameter to fill in.
type tryField struct {
	field
	Key    string // its name in the form
	Value  string
	Choice choice
}

// toTry returns a parameter to fill in: with its example if there has to be a value.
func (p field) toTry() tryField {
	f := tryField{field: p, Key: p.In + "." + p.Name}
	if p.Required {
		f.Value = p.Example
	}
	return f
}

// result is what the API answered.
type result struct {
	Status  int
	Text    string // of the status
	Good    bool
	TookMS  int64
	Headers []answer
	Body    string
	Cut     bool
	File    string // where a file is; empty if the body is text
	Curl    string // that makes the same call
}

const (
	callTime  = 45 * time.Second // for one call, which may wait for events
	maxAnswer = 256 << 10        // bytes of an answer that are shown
)

// operation returns the operation that the path names, among all of them.
func (v *visit) operation() (page operationPage, _ error) {
	d, err := v.document()
	if err != nil {
		return page, err
	}
	page.Groups = d.page().Groups
	for _, group := range page.Groups {
		for _, op := range group.Operations {
			if op.OperationID == v.r.PathValue("operation") {
				page.Op = op
				return page, nil
			}
		}
	}
	return page, errUnknown
}

func (c *Console) showOperation(v *visit) error {
	page, err := v.operation()
	if err != nil {
		return err
	}
	page.Body = page.Op.Sample
	for _, parameter := range page.Op.toFillIn() {
		shown := parameter.toTry()
		switch {
		case parameter.Name == "Idempotency-Key":
			shown.Value = newKey()
		case parameter.IsChat && parameter.Required && !page.Op.Writes:
			if shown.Choice, err = v.latestChat(parameter); err != nil {
				return err
			}
		}
		page.Fields = append(page.Fields, shown)
	}
	return v.showOperationWith(http.StatusOK, page)
}

func (v *visit) showOperationWith(status int, page operationPage) (err error) {
	if page.Known, err = v.chatsLike(v.r.Context(), "", suggestions); err != nil {
		return err
	}
	return v.showAs(status, "operation", page.Op.Summary, page)
}

// latestChat returns the latest chat that a parameter may name.
func (v *visit) latestChat(parameter field) (choice, error) {
	query := bridge.ChatQuery{Limit: 1}
	switch {
	case parameter.OfGroup:
		query.Type = bridge.ChatsGroup
	case parameter.OfPerson:
		query.Type = bridge.ChatsIndividual
	}
	chats, err := v.api.Chats(v.r.Context(), query)
	if err != nil || len(chats.Items) == 0 {
		return choice{}, err
	}
	return v.choiceOf(chats.Items[0].JID), nil
}

// tryOperation calls an operation as its form says, with the rights of the visitor's own
// token, and shows the answer.
func (c *Console) tryOperation(v *visit) error {
	page, err := v.operation()
	if err != nil {
		return err
	}
	if page.Op.TakesFile {
		return errUnknown
	}
	if err := v.fillIn(&page, v.form()); err != nil {
		return err
	}
	if strings.TrimSpace(page.Body) == "" {
		return v.runOperation(page, http.NoBody, "", callTime)
	}
	return v.runOperation(page, strings.NewReader(page.Body), page.Op.Kind, callTime)
}

// runOperation calls an operation with a body, if nothing is wrong with what was filled in,
// and shows the answer.
func (v *visit) runOperation(page operationPage, body io.Reader, kind string, most time.Duration) (err error) {
	if page.Op.Writes && !page.Confirmed {
		page.Wrong["confirm"] = "Check this box to run the call."
	}
	if len(page.Wrong) > 0 {
		return v.showOperationWith(http.StatusBadRequest, page)
	}
	if page.Result, err = v.try(page, body, kind, most); err != nil {
		return err
	}
	for i := range page.Fields {
		if page.Fields[i].Name == "Idempotency-Key" && page.Result.Good {
			page.Fields[i].Value = newKey() // the next call is another one
		}
	}
	return v.showOperationWith(http.StatusOK, page)
}

// fillIn takes over what the form says.
func (v *visit) fillIn(page *operationPage, f *form) (err error) {
	page.Body, page.Confirmed, page.Wrong = strings.ReplaceAll(f.Get("body"), "\r\n", "\n"), f.Get("confirm") != "", f.Wrong
	for _, parameter := range page.Op.toFillIn() {
		shown := parameter.toTry()
		shown.Value = strings.TrimSpace(f.Get(shown.Key))
		if parameter.IsChat {
			if shown.Choice, err = v.chooseOne(f, shown.Key); err != nil {
				return err
			}
			if shown.Value = ""; len(shown.Choice.Chosen) > 0 {
				shown.Value = string(shown.Choice.Chosen[0].JID)
			}
		}
		if parameter.Required && shown.Value == "" {
			f.refuse(shown.Key, "Fill this in: the call needs it.")
		}
		page.Fields = append(page.Fields, shown)
	}
	if page.Op.Kind == "application/json" && strings.TrimSpace(page.Body) != "" && !json.Valid([]byte(page.Body)) {
		f.refuse("body", "This isn’t valid JSON. Check the quotes, commas and brackets.")
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

// filePath returns where the file is that a call answers.
func (page operationPage) filePath() string {
	query := url.Values{}
	for _, f := range page.Fields {
		if f.Value != "" {
			query.Set(f.Key, f.Value)
		}
	}
	return root + "/api/" + page.Op.OperationID + "/file?" + query.Encode()
}

// call sends the request of a form to the API in this process.
func (v *visit) call(ctx context.Context, page operationPage, body io.Reader, kind string) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, page.Op.Method, "http://in-process"+page.address(), body)
	if err != nil {
		return nil, err
	}
	for _, f := range page.Fields {
		if f.In == "header" && f.Value != "" {
			req.Header.Set(f.Name, f.Value)
		}
	}
	req.Header.Set("Authorization", "Bearer "+v.api.Token())
	if kind != "" {
		req.Header.Set("Content-Type", kind)
	}
	return client.Transport(v.c.options.API, "in-process").RoundTrip(req)
}

// try calls an operation, and returns what is shown of the answer.
func (v *visit) try(page operationPage, body io.Reader, kind string, most time.Duration) (*result, error) {
	logged, end := v.untilLoggedOut()
	defer end()
	ctx, cancel := context.WithTimeout(logged, most)
	defer cancel()
	began := time.Now()
	resp, err := v.call(ctx, page, body, kind)
	if errors.Is(err, context.DeadlineExceeded) {
		return nil, problem{http.StatusGatewayTimeout, titleOf(http.StatusGatewayTimeout), fmt.Sprintf("The call took longer than %d seconds, so the console stopped waiting.", int(most.Seconds())), ""}
	}
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	shown := &result{
		Status: resp.StatusCode, Text: http.StatusText(resp.StatusCode), Good: resp.StatusCode < http.StatusBadRequest,
		Headers: headersOf(resp.Header), Curl: page.curl(),
	}
	answered, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type")) // a malformed one is that of a file
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

// read reads the beginning of an answer, as people read it.
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
			arguments = append(arguments, "-H "+shellQuoted(f.Name+": "+f.Value))
		case f.In == "form":
			arguments = append(arguments, "-F "+shellQuoted(f.Name+"="+f.Value))
		}
	}
	if page.FileName != "" {
		arguments = append(arguments, "-F "+shellQuoted("file=@"+page.FileName))
	}
	var body any
	if page.Op.Kind == "application/json" && json.Valid([]byte(page.Body)) {
		body = json.RawMessage(page.Body)
	}
	return curl(page.Op.Method, page.address(), body, arguments...)
}

// openFile answers the file that an operation returns. Like media, it runs nowhere.
func (c *Console) openFile(v *visit) error {
	page, err := v.operation()
	if err != nil {
		return err
	}
	if page.Op.Writes {
		return errUnknown
	}
	f := &form{v.r.URL.Query(), make(map[string]string)}
	if err := v.fillIn(&page, f); err != nil {
		return err
	}
	ctx, cancel := v.untilLoggedOut()
	defer cancel()
	resp, err := v.call(ctx, page, http.NoBody, "")
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode >= http.StatusMultipleChoices {
		return problem{resp.StatusCode, titleOf(resp.StatusCode), "The file can’t be opened anymore. Run the call again to see why.", ""}
	}
	describeFile(v.w.Header(), resp.Header, false)
	v.w.WriteHeader(resp.StatusCode)
	_, _ = io.Copy(prompt{v.w}, resp.Body) // fails where the visitor has left
	return nil
}
