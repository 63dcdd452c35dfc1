package mcp

import (
	"errors"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"bridged/internal/bridge"
)

// refusalCodes has the API's codes for the statuses of requests that do not reach the protocol. If the SDK refuses a
// request, the status's first code is used.
var refusalCodes = map[int][]bridge.Code{
	http.StatusBadRequest:            {bridge.CodeInvalid},
	http.StatusUnauthorized:          {bridge.CodeUnauthorized},
	http.StatusForbidden:             {bridge.CodeForbidden},
	http.StatusNotFound:              {bridge.CodeNotFound},
	http.StatusMethodNotAllowed:      {bridge.CodeMethodNotAllowed},
	http.StatusConflict:              {bridge.CodeRequestInProgress},
	http.StatusRequestEntityTooLarge: {bridge.CodePayloadTooLarge},
	http.StatusUnsupportedMediaType:  {bridge.CodeInvalid},
	http.StatusServiceUnavailable:    {bridge.CodeTooManyConnections, bridge.CodeStorageUnavailable, bridge.CodeNotConnected},
}

// refuse answers a request that does not reach the SDK.
func refuse(w http.ResponseWriter, err error) {
	known := bridge.Fail(bridge.CodeInternal, "%s", sentence(err))
	if e, ok := errors.AsType[*bridge.Error](err); ok {
		known.Code, known.RetryAfter = e.Code, e.RetryAfter
	}
	status := http.StatusInternalServerError
	for each, codes := range refusalCodes {
		if slices.Contains(codes, known.Code) && (status == http.StatusInternalServerError || each < status) {
			status = each
		}
	}
	if status == http.StatusInternalServerError {
		known.Code = bridge.CodeInternal
	}
	if known.RetryAfter > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int(math.Ceil(known.RetryAfter.Seconds()))))
	}
	writeRefusal(w, status, known.Code, known.Msg)
}

// refuseStatus answers with a refusal of the SDK, which has only a status and a text.
func refuseStatus(w http.ResponseWriter, status int, text string) {
	code := bridge.CodeInternal
	if codes := refusalCodes[status]; len(codes) > 0 {
		code = codes[0]
	}
	if text = strings.TrimSpace(text); text == "" {
		text = strings.ToLower(http.StatusText(status))
	}
	writeRefusal(w, status, code, visible(bridge.Beginning(text, maxRefusal)))
}

// maxRefusal bounds the sentence of a refusal, which may quote the request, in characters.
const maxRefusal = 1000

// writeRefusal writes an error in the form of the API.
func writeRefusal(w http.ResponseWriter, status int, code bridge.Code, text string) {
	body, err := bridge.EncodeJSON(struct {
		Error string      `json:"error"`
		Code  bridge.Code `json:"code"`
	}{text, code})
	if err != nil {
		body = nil // cannot happen: both are strings
	}
	header := w.Header()
	header.Set("Content-Type", "application/json")
	header.Set("Content-Length", strconv.Itoa(len(body)+1))
	w.WriteHeader(status)
	_, _ = w.Write(append(body, '\n')) // fails if the caller has left
}

// errNoBearer refuses a request without a valid token.
var errNoBearer = bridge.Fail(bridge.CodeUnauthorized, "the header Authorization: Bearer <token> is missing, or its token is wrong or has expired")

// challenge returns the WWW-Authenticate header for a request whose token is missing or wrong. With
// OAuth it says where clients find how to get a token (RFC 9728, section 5.1).
func (s *Server) challenge(r *http.Request) string {
	var params []string
	if r.Header.Get("Authorization") != "" {
		params = append(params, `error="invalid_token"`)
	}
	if s.options.Metadata != nil {
		params = append(params, fmt.Sprintf("resource_metadata=%q", s.options.Metadata(r)))
	}
	return strings.TrimSpace("Bearer " + strings.Join(params, ", "))
}
