package transcribe

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net"
	"net/http"
	"net/textproto"
	"net/url"
	"path"
	"regexp"
	"strings"
	"time"

	"bridged/internal/bridge"
	"bridged/internal/media/probe"
)

const (
	// answerLimit limits an answer, in bytes: besides the text it contains the position of each
	// word.
	answerLimit = 8 << 20
	// errorLimit limits how much of an error response is read.
	errorLimit     = 64 << 10
	connectTimeout = 10 * time.Second
	// longestAsked limits the pause that the service may ask for.
	longestAsked = time.Hour
	// mostRedirects limits redirects within the service.
	mostRedirects = 3
)

// timeoutFor returns how long the service may take for audio of a length. It may run on a small
// machine.
func timeoutFor(length time.Duration) time.Duration {
	return min(2*time.Minute+4*length, 2*time.Hour)
}

// service is a client of the transcription service.
type service struct {
	base, endpoint *url.URL
	key, model     string
	language       string // that is spoken; "" for any
	userAgent      string
	client         *http.Client
	timeout        func(length time.Duration) time.Duration
}

// answerFormat is the format of answers that has the language.
const answerFormat = "verbose_json"

func newService(o Options) *service {
	s := &service{
		base: o.URL, endpoint: o.URL.JoinPath("v1/audio/transcriptions"), key: o.Key, model: o.Model, language: o.Language, userAgent: o.UserAgent, timeout: timeoutFor,
	}
	dialer := &net.Dialer{Timeout: connectTimeout}
	s.client = &http.Client{
		CheckRedirect: s.checkRedirect,
		Transport: &http.Transport{
			DialContext: dialer.DialContext, TLSHandshakeTimeout: connectTimeout, ForceAttemptHTTP2: true,
			DisableCompression: true, MaxResponseHeaderBytes: errorLimit, MaxIdleConns: 1, IdleConnTimeout: time.Minute,
		},
	}
	return s
}

// checkRedirect follows a redirect to a URL under the base, and posts again.
func (s *service) checkRedirect(r *http.Request, via []*http.Request) error {
	below := strings.TrimSuffix(s.base.Path, "/") + "/"
	if len(via) > mostRedirects || r.Method != http.MethodPost || r.URL.Scheme != s.base.Scheme || r.URL.Host != s.base.Host ||
		!strings.HasPrefix(path.Clean(r.URL.Path), below) {
		return http.ErrUseLastResponse
	}
	return nil
}

// recording is the audio to transcribe.
type recording struct {
	*io.SectionReader
	mimeType string
	length   time.Duration
}

// transcript is the service's transcript and its language, which is empty if the service does not
// report it.
type transcript struct{ text, language string }

// transcribe makes one attempt.
func (s *service) transcribe(ctx context.Context, of recording) (transcript, error) {
	ctx, cancel := context.WithTimeout(ctx, s.timeout(of.length))
	defer cancel()
	r, err := s.request(ctx, of)
	if err != nil {
		return transcript{}, err
	}
	resp, err := s.client.Do(r)
	if err != nil {
		dial, ok := errors.AsType[*net.OpError](err)
		return transcript{}, &failure{sentence: s.explain(ctx, err), isService: true, isFree: ok && dial.Op == "dial", isSlow: ctx.Err() != nil}
	}
	defer resp.Body.Close() // it was only read
	if resp.StatusCode != http.StatusOK {
		return transcript{}, s.refusal(resp)
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, answerLimit+1))
	switch {
	case err != nil:
		return transcript{}, &failure{sentence: s.explain(ctx, err), isService: true, isSlow: ctx.Err() != nil}
	case len(body) > answerLimit:
		return transcript{}, &failure{sentence: fmt.Sprintf("the service's answer has more than %d MiB", answerLimit>>20)}
	}
	return read(body)
}

// request returns the request with the audio, which is read from its beginning.
func (s *service) request(ctx context.Context, of recording) (*http.Request, error) {
	var form bytes.Buffer
	w := multipart.NewWriter(&form)
	for _, field := range [][2]string{{"model", s.model}, {"language", s.language}, {"response_format", answerFormat}} {
		if field[1] != "" {
			if err := w.WriteField(field[0], field[1]); err != nil {
				return nil, err
			}
		}
	}
	base, name := fileType(of.mimeType)
	if _, err := w.CreatePart(textproto.MIMEHeader{
		"Content-Disposition": {multipart.FileContentDisposition("file", name)}, "Content-Type": {base},
	}); err != nil {
		return nil, err
	}
	before := form.Len()
	if err := w.Close(); err != nil {
		return nil, err
	}
	body := func() (io.ReadCloser, error) {
		return io.NopCloser(io.MultiReader(
			bytes.NewReader(form.Bytes()[:before]), io.NewSectionReader(of, 0, of.Size()), bytes.NewReader(form.Bytes()[before:]),
		)), nil
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, s.endpoint.String(), nil)
	if err != nil {
		return nil, err
	}
	r.Body, _ = body()
	r.GetBody, r.ContentLength = body, int64(form.Len())+of.Size()
	r.Header.Set("Content-Type", w.FormDataContentType())
	r.Header.Set("User-Agent", s.userAgent)
	r.Header.Set("Accept", "application/json")
	if s.key != "" {
		r.Header.Set("Authorization", "Bearer "+s.key)
	}
	return r, nil
}

// fileType returns the media type without parameters, and a file name that services accept for
// it.
func fileType(mimeType string) (base, name string) {
	base, _, err := mime.ParseMediaType(mimeType)
	switch {
	case err != nil:
		base = bridge.UnknownMIMEType
	case base == "audio/opus" || base == "application/ogg":
		base = "audio/ogg"
	}
	return base, "sound" + probe.Extension(base)
}

// read parses the text in an answer.
func read(body []byte) (transcript, error) {
	var answer struct {
		Text     *string   `json:"text"`
		Language shortText `json:"language"`
	}
	if err := json.Unmarshal(body, &answer); err != nil || answer.Text == nil {
		return transcript{}, &failure{sentence: "the service's answer is not JSON with a text: TRANSCRIBE_URL may be the address of something else", isService: true}
	}
	return transcript{*answer.Text, languageCode(string(answer.Language))}, nil
}

// refusal returns the failure for a response without a text.
func (s *service) refusal(resp *http.Response) error {
	body, _ := io.ReadAll(io.LimitReader(resp.Body, errorLimit)) // or a part of it
	status := resp.StatusCode
	isRequest := status == http.StatusBadRequest || status == http.StatusRequestEntityTooLarge || status == http.StatusUnsupportedMediaType || status == http.StatusUnprocessableEntity
	if isRequest && bytes.Contains(body, []byte("response_format")) {
		return &failure{sentence: "the model does not answer in the format verbose_json: set TRANSCRIBE_MODEL to one that does, such as whisper-1", isService: true, isFree: true}
	}
	sentence := strings.TrimSpace(fmt.Sprintf("the service answered %d %s", status, http.StatusText(status))) + reason(body)
	switch {
	case status >= 300 && status <= 399:
		sentence += ": it redirects to another address, which TRANSCRIBE_URL must be"
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		sentence += ": look at TRANSCRIBE_KEY"
	case status == http.StatusNotFound:
		sentence += ": TRANSCRIBE_URL must be the address before /v1/audio/transcriptions, and TRANSCRIBE_MODEL a model of the service"
	}
	return &failure{sentence: sentence, isService: !isRequest, isFree: true, after: bridge.RetryAfter(resp.Header.Get("Retry-After"), time.Now(), longestAsked)}
}

// slug matches error codes, such as insufficient_quota. Sentences may repeat parts of the
// request, so they are not shown.
var slug = regexp.MustCompile(`^[a-z][a-z0-9_]{1,63}$`)

// reason returns the code of an error in brackets, or "".
func reason(body []byte) string {
	var answer struct {
		Error struct {
			Code, Type shortText
		}
	}
	if json.Unmarshal(body, &answer) != nil { // an HTML page, or another form of error
		return ""
	}
	for _, code := range []shortText{answer.Error.Code, answer.Error.Type} {
		if slug.MatchString(string(code)) {
			return " (" + string(code) + ")"
		}
	}
	return ""
}

// explain describes why a request failed, without the service's address.
func (s *service) explain(ctx context.Context, err error) string {
	var address *url.Error
	if errors.As(err, &address) {
		err = address.Err
	}
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return "the service took too long"
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return "the service broke its answer off"
	}
	return "the service cannot be reached: " + bridge.Redact(err.Error())
}
