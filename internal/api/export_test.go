package api

import (
	"net/http"
	"slices"

	"bridged/internal/bridge"
	"bridged/internal/media"
)

// ServeFile answers an open file.
func ServeFile(w http.ResponseWriter, r *http.Request, file *media.File, m bridge.Message) error {
	return serveFile(w, r, file, m, inline)
}

// Codes returns the codes that have a status, sorted.
func Codes() []string {
	var codes []string
	for _, list := range statuses {
		for _, code := range list {
			codes = append(codes, string(code))
		}
	}
	slices.Sort(codes)
	return codes
}
