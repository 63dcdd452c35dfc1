package fleet

import (
	"errors"
	"net/http"

	"bridged/internal/bridge"
)

// The codes of what this door refuses by itself. All others come from the API.
const (
	CodeInvalidEnvelope  bridge.Code = "invalid_envelope"
	CodeNotOverNATS      bridge.Code = "not_over_nats"
	CodeFileNotFound     bridge.Code = "file_not_found"
	CodeTooManyRequests  bridge.Code = "too_many_requests"
	CodeFilesUnavailable bridge.Code = "files_unavailable"
	CodeRequestTimeout   bridge.Code = "request_timeout"
)

// statuses maps the codes to what HTTP would say.
var statuses = map[bridge.Code]int{
	CodeInvalidEnvelope:  http.StatusBadRequest,
	CodeNotOverNATS:      http.StatusBadRequest,
	CodeFileNotFound:     http.StatusNotFound,
	CodeTooManyRequests:  http.StatusTooManyRequests,
	CodeFilesUnavailable: http.StatusServiceUnavailable,
	CodeRequestTimeout:   http.StatusGatewayTimeout,
}

// refusal returns the answer that tells of an error, in the form of the API's.
func refusal(err error) *answer {
	e, status := bridge.Fail(bridge.CodeInternal, "something went wrong inside the service; its log says what"), http.StatusInternalServerError
	var known *bridge.Error
	if errors.As(err, &known) && statuses[known.Code] != 0 {
		e, status = known, statuses[known.Code]
	}
	body, err := bridge.EncodeJSON(map[string]any{"error": e.Msg, "code": e.Code})
	if err != nil {
		panic("fleet: a sentence cannot be encoded: " + err.Error())
	}
	return &answer{Status: status, Headers: map[string]string{"Content-Type": jsonType}, Body: body, code: e.Code}
}
