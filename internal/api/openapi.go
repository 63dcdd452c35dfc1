package api

import (
	_ "embed"
	"net/http"
	"strconv"

	"github.com/rs/zerolog/hlog"
)

// Document is the OpenAPI description of everything that [New] serves. Tests
// hold every answer against it.
//
//go:embed openapi.yaml
var Document []byte

// openAPI serves the document; it needs no token because it holds no data.
func (s *server) openAPI(w http.ResponseWriter, r *http.Request) error {
	w.Header().Set("Content-Type", "application/yaml")
	w.Header().Set("Content-Length", strconv.Itoa(len(Document)))
	answerNow(w)
	if _, err := w.Write(Document); err != nil {
		hlog.FromRequest(r).Debug().Err(err).Msg("answer not read")
	}
	return nil
}
