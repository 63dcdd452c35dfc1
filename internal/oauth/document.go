package oauth

import (
	"bytes"
	"context"
	"errors"
	"maps"
	"net/url"
	"path"
	"strings"
	"sync"
	"time"

	"bridged/internal/api/front"
	"bridged/internal/urlguard"
)

const (
	maxDocument  = 8 << 10
	maxDocuments = 64
	// documentLife is how long a document is used, and failureLife how long it is not requested again
	// after a failure.
	documentLife = time.Hour
	failureLife  = time.Minute
)

// documents has the clients of documents that were fetched.
type documents struct {
	mu  sync.Mutex
	all map[string]fetched // by address; guarded by mu
}

type fetched struct {
	client Client
	err    error
	until  time.Time
}

// isDocument reports whether a client's id is the address of a document that describes it (client id
// metadata documents).
func isDocument(id string) bool {
	u, err := url.Parse(id)
	return err == nil && u.Scheme == "https" && u.Hostname() != "" && u.User == nil && !strings.Contains(id, "#") &&
		len(u.Path) > 1 && path.Clean(u.Path) == strings.TrimSuffix(u.Path, "/")
}

// describedBy returns the client that a document describes. Only people who have logged in have
// documents fetched.
func (s *Server) describedBy(ctx context.Context, address string) (Client, error) {
	now, d := s.Now(), &s.documents
	d.mu.Lock()
	known := d.all[address]
	d.mu.Unlock()
	if now.Before(known.until) {
		return known.client, known.err
	}
	c, err := s.fetchDocument(ctx, address)
	if ctx.Err() != nil {
		return c, ctx.Err()
	}
	until := now.Add(documentLife)
	if err != nil {
		until = now.Add(failureLife)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	maps.DeleteFunc(d.all, func(_ string, one fetched) bool { return !now.Before(one.until) })
	if len(d.all) >= maxDocuments || d.all == nil {
		d.all = make(map[string]fetched)
	}
	d.all[address] = fetched{c, err, until}
	return c, err
}

func (s *Server) fetchDocument(ctx context.Context, address string) (Client, error) {
	var body bytes.Buffer
	result, err := s.Fetch(ctx, address, maxDocument, &body)
	if failed, ok := errors.AsType[*urlguard.Error](err); ok {
		return Client{}, refuse("invalid_client", "the document that describes the program could not be fetched: %s", failed.Reason)
	}
	if err != nil {
		return Client{}, err
	}
	var d described
	switch err := front.DecodeForeign(body.Bytes(), &d); {
	case result.URL != address:
		return Client{}, refuse("invalid_client", "the document that describes the program is at another address, which its own must not lead to")
	case err != nil:
		return Client{}, refuse("invalid_client", "the document that describes the program is not a JSON object")
	case d.ClientID != address:
		return Client{}, refuse("invalid_client", "the document describes another program: its client_id must be its address")
	case d.ClientSecret != "":
		return Client{}, refuse("invalid_client", "the document that describes the program has a secret, which everyone can read")
	}
	c, err := d.client()
	if err != nil {
		return c, refuse("invalid_client", "the document that describes the program is not valid: %v", err)
	}
	u, _ := url.Parse(address) // isDocument has parsed it
	c.ID, c.Host = address, strings.ToLower(u.Host)
	return c, nil
}
