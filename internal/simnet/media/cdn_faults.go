package media

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"time"
)

// CDNFault makes requests to the CDN fail. Zero conditions match every request.
type CDNFault struct {
	// Method and Path select the requests.
	Method, Path string
	// Status answers the request; RetryAfter and Location add a header.
	Status     int
	RetryAfter string
	Location   string
	// Truncate cuts the connection after this many bytes, although more were announced.
	Truncate int64
	// Tamper flips a bit in the middle of the body.
	Tamper bool
	// Stall sends this many bytes and then nothing, until the client gives up. StallAtOnce sends none.
	Stall       int64
	StallAtOnce bool
	// Delay waits before the answer begins.
	Delay time.Duration
	// Times limits how often the fault applies; 0 means until ClearFaults.
	Times int
}

// fault returns the fault that applies to a request.
func (c *CDN) fault(r *http.Request) CDNFault {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i, f := range c.faults {
		if f.Method != "" && f.Method != r.Method || f.Path != "" && f.Path != r.URL.Path {
			continue
		}
		found := *f
		if f.Times > 0 {
			if f.Times--; f.Times == 0 {
				c.faults = slices.Delete(c.faults, i, i+1)
			}
		}
		return found
	}
	return CDNFault{}
}

// applyFault applies a fault up to the body. It reports whether the request goes on.
func (c *CDN) applyFault(w http.ResponseWriter, r *http.Request, fault CDNFault) bool {
	if fault.Delay > 0 {
		select {
		case <-time.After(fault.Delay):
		case <-r.Context().Done():
			return false
		case <-c.ended:
			return false
		}
	}
	if fault.StallAtOnce {
		c.stall(r)
		return false
	}
	if fault.Status != 0 {
		if fault.RetryAfter != "" {
			w.Header().Set("Retry-After", fault.RetryAfter)
		}
		if fault.Location != "" {
			w.Header().Set("Location", fault.Location)
		}
		w.WriteHeader(fault.Status)
		return false
	}
	return true
}

// stall keeps the connection open until the client gives up.
func (c *CDN) stall(r *http.Request) {
	select {
	case <-r.Context().Done():
	case <-c.ended:
	}
	panic(http.ErrAbortHandler)
}

// downloadPart announces the whole file and sends only its beginning.
func (c *CDN) downloadPart(w http.ResponseWriter, r *http.Request, content io.ReadSeeker, fault CDNFault) {
	size, err := content.Seek(0, io.SeekEnd)
	if err == nil {
		_, err = content.Seek(0, io.SeekStart)
	}
	if err != nil {
		http.Error(w, "stored file unreadable", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Length", fmt.Sprint(size))
	_, _ = io.CopyN(w, content, min(size, max(fault.Truncate, fault.Stall)))
	_ = http.NewResponseController(w).Flush()
	if fault.Stall > 0 {
		c.stall(r)
	}
	panic(http.ErrAbortHandler)
}

// Expire makes downloads of a path (with or without query) fail with 410 from now on.
func (c *CDN) Expire(directPath string) { c.ExpireWith(directPath, http.StatusGone) }

// ExpireWith does so with another status: 403, 404 and 410 are final for whatsmeow.
func (c *CDN) ExpireWith(directPath string, status int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.expired[PlainPath(directPath)] = status
}

// Restore ends Expire for a path.
func (c *CDN) Restore(directPath string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.expired, PlainPath(directPath))
}

// Fail adds a fault. Of several that match a request, the oldest applies.
func (c *CDN) Fail(fault CDNFault) {
	fault.Path = PlainPath(fault.Path)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.faults = append(c.faults, &fault)
}

// ClearFaults removes all faults. Expired files stay expired.
func (c *CDN) ClearFaults() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.faults = nil
}
