package api

import (
	_ "embed"
	"fmt"
	"net/http"
	"sync"

	"github.com/oasdiff/yaml"
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
	beginAnswer(in.w, http.StatusOK, "application/yaml", len(Document))
	writePiece(in.w, in.r, Document)
	return nil, nil
}

// getDocumentAsJSON answers the document for tools that read no YAML.
func (s *server) getDocumentAsJSON(in *input) (any, error) {
	document, err := documentAsJSON()
	if err != nil {
		return nil, err
	}
	beginAnswer(in.w, http.StatusOK, "application/json", len(document))
	writePiece(in.w, in.r, document)
	return nil, nil
}
