package oauth

import (
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/rs/zerolog/hlog"

	"bridged/internal/api/front"
	"bridged/internal/bridge"
)

// Error is the answer to a request that is refused (RFC 6749, section 5.2).
type Error struct {
	Status      int           `json:"-"`
	Code        string        `json:"error"`
	Description string        `json:"error_description"`
	RetryAfter  time.Duration `json:"-"`
}

// Error returns the sentence for people.
func (e *Error) Error() string { return e.Description }

// refuse returns a refusal of a request.
func refuse(code, format string, args ...any) *Error {
	return &Error{Status: http.StatusBadRequest, Code: code, Description: fmt.Sprintf(format, args...)}
}

// fail answers with an error.
func (s *Server) fail(w http.ResponseWriter, r *http.Request, err error) {
	known, ok := errors.AsType[*Error](err)
	if !ok {
		hlog.FromRequest(r).Error().Str("error", bridge.Redact(err.Error())).Msg("oauth request failed")
		known = &Error{Status: http.StatusServiceUnavailable, Code: "temporarily_unavailable", Description: "something went wrong inside the bridge; its log says what", RetryAfter: 10 * time.Second}
	}
	if known.RetryAfter > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int(math.Ceil(known.RetryAfter.Seconds()))))
	}
	answer(w, known.Status, known)
}

// answer writes an answer in JSON.
func answer(w http.ResponseWriter, status int, v any) {
	body, err := bridge.EncodeJSON(v)
	if err != nil {
		http.Error(w, "the answer could not be encoded", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(body)+1))
	front.AnswerNow(w)
	w.WriteHeader(status)
	_, _ = w.Write(append(body, '\n')) // fails if the client has left
}

const (
	maxBody     = 8 << 10         // bytes of a body: clients are unauthenticated
	bodyTimeout = 5 * time.Second // for a body to arrive
)

// readBody reads a body of at most maxBody bytes.
func readBody(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	tooLarge := &Error{Status: http.StatusRequestEntityTooLarge, Code: "invalid_request", Description: "the body may have at most 8 KiB"}
	if r.ContentLength > maxBody {
		w.Header().Set("Connection", "close")
		return nil, tooLarge
	}
	r.Body = http.MaxBytesReader(w, r.Body, maxBody)
	front.SetDeadline(http.NewResponseController(w).SetReadDeadline, bodyTimeout)
	body, err := io.ReadAll(r.Body)
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return nil, tooLarge
	}
	if err != nil {
		w.Header().Set("Connection", "close")
		return nil, refuse("invalid_request", "the body did not arrive within %.0f seconds", bodyTimeout.Seconds())
	}
	front.BodyRead(w)
	return body, nil
}

// readForm reads a form whose fields occur once.
func readForm(w http.ResponseWriter, r *http.Request) (url.Values, error) {
	body, err := readBody(w, r)
	if err != nil {
		return nil, err
	}
	form, err := url.ParseQuery(string(body))
	if err != nil {
		return nil, refuse("invalid_request", "the body must be a form (application/x-www-form-urlencoded)")
	}
	return form, checkOnce(form)
}

// checkOnce refuses parameters that occur twice (RFC 6749, section 3.1). A client may name several
// resources (RFC 8707).
func checkOnce(parameters url.Values) error {
	for name, values := range parameters {
		if len(values) > 1 && name != "resource" {
			return refuse("invalid_request", "a parameter may occur only once")
		}
	}
	return nil
}
