package api

import (
	_ "embed"
	"fmt"
	"net/http"
	"strconv"
	"sync"

	"github.com/oasdiff/yaml"
	"github.com/rs/zerolog/hlog"

	"bridged/internal/api/front"
)

// Document is the OpenAPI description of everything that [New] serves. Tests
// hold every answer against it.
//
//go:embed openapi.yaml
var Document []byte

// documentAsJSON returns the document as JSON, converted at the first call.
var documentAsJSON = sync.OnceValues(func() ([]byte, error) {
	converted, err := yaml.YAMLToJSON(Document)
	if err != nil {
		return nil, fmt.Errorf("convert openapi.yaml: %w", err)
	}
	return converted, nil
})

// getDocument answers the document. It needs no token because it holds no data.
func (s *server) getDocument(in *input) (any, error) {
	return nil, serveDocument(in.w, in.r, "application/yaml", Document)
}

// getDocumentAsJSON answers the document for tools that read no YAML.
func (s *server) getDocumentAsJSON(in *input) (any, error) {
	document, err := documentAsJSON()
	if err != nil {
		return nil, err
	}
	return nil, serveDocument(in.w, in.r, "application/json", document)
}

func serveDocument(w http.ResponseWriter, r *http.Request, contentType string, document []byte) error {
	w.Header().Set("Content-Type", contentType)
	w.Header().Set("Content-Length", strconv.Itoa(len(document)))
	front.AnswerNow(w)
	if _, err := w.Write(document); err != nil {
		hlog.FromRequest(r).Debug().Err(err).Msg("answer not read")
	}
	return nil
}
