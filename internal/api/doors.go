package api

import (
	"net/http"

	"bridged/internal/api/front"
)

// Bodies reads the bodies of requests for a door beside the router, within the
// limits that the router has for its own.
type Bodies struct {
	bodies  front.Bodies
	handler *Handler
}

// NewBodies returns a reader with a quota of its own: a door whose calls go on to
// the router must not wait for a place that it holds itself.
func (h *Handler) NewBodies() *Bodies { return &Bodies{front.NewBodies(), h} }

// Read reads a body of at most 1 MiB, for which the holder of the request's token
// takes the memory until done, which may be called more than once.
func (b *Bodies) Read(w http.ResponseWriter, r *http.Request) (body []byte, done func(), err error) {
	family, known := b.handler.Family(r.Context(), secretOf(r))
	if !known {
		return nil, nil, errNoBearer()
	}
	return b.bodies.ReadBody(w, r, family)
}
