package media

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"bridged/internal/simnet/wire"
)

// CDN is the network's media server. It stores encrypted uploads and serves them to anyone who knows the path.
type CDN struct {
	// addr returns the network's address; ended is closed when the network ends; removed is called after a client has deleted a file.
	addr    func() string
	ended   <-chan struct{}
	removed func()
	// mu guards everything below.
	mu       sync.Mutex
	dir      string
	hosts    []string // named in media_conn instead of the network's address, if set
	blobs    map[string]*blob
	expired  map[string]int
	faults   []*CDNFault
	requests []*CDNRequest
}

// blob is one stored file, in memory, or on disk if the CDN has a directory.
type blob struct {
	data []byte
	file string
	hash [32]byte
	at   time.Time
}

// CDNRequest records one request to the CDN.
type CDNRequest struct {
	// Method is POST for an upload, GET or HEAD for a download, DELETE for a deletion.
	Method string
	// Path holds the direct path of a download without its query, or an upload's address.
	Path  string
	Range string
	// Status stays 0 until the answer is finished.
	Status int
	// Bytes counts the bodies received and sent.
	Bytes int64
	// At is the time of the request.
	At time.Time
}

// New returns the media server of a network that listens on addr until ended is closed. It calls removed after a client has deleted a file.
func New(addr func() string, ended <-chan struct{}, removed func()) *CDN {
	return &CDN{addr: addr, ended: ended, removed: removed, blobs: make(map[string]*blob), expired: make(map[string]int)}
}

// KeepIn makes the CDN store later uploads as files in a directory, which the caller removes.
func (c *CDN) KeepIn(dir string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.dir = dir
}

// NameHosts makes the network announce these media hosts from now on, its own or not.
func (c *CDN) NameHosts(hosts ...string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.hosts = hosts
}

// ConnectionNode returns the media_conn that announces the CDN: at the network's address, unless NameHosts was called.
func (c *CDN) ConnectionNode() wire.Node {
	c.mu.Lock()
	named := c.hosts
	c.mu.Unlock()
	if len(named) == 0 {
		named = []string{c.addr()}
	}
	var hosts []wire.Node
	for _, host := range named {
		hosts = append(hosts, wire.Node{Tag: "host", Attrs: wire.Attrs{"hostname": host}})
	}
	return wire.Node{Tag: "media_conn", Attrs: wire.Attrs{
		"auth": "simulated", "ttl": "3600", "auth_ttl": "3600", "max_buckets": "12",
	}, Content: hosts}
}

// ServeHTTP serves uploads, downloads and deletions.
func (c *CDN) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	fault := c.fault(r)
	finish := c.record(&CDNRequest{Method: r.Method, Path: r.URL.Path, Range: r.Header.Get("Range"), At: time.Now()})
	counted := &countingWriter{ResponseWriter: w, status: http.StatusOK}
	var taken int64
	defer func() { finish(counted.status, counted.written+taken) }()
	if !c.applyFault(counted, r, fault) {
		return
	}
	switch r.Method {
	case http.MethodPost:
		taken = c.upload(counted, r)
	case http.MethodGet, http.MethodHead:
		c.download(counted, r, fault)
	case http.MethodDelete:
		c.remove(r)
		counted.WriteHeader(http.StatusOK)
	default:
		counted.WriteHeader(http.StatusMethodNotAllowed)
	}
}

// record adds a request to the list. The caller completes the entry by calling finish.
func (c *CDN) record(r *CDNRequest) (finish func(status int, bytes int64)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.requests = append(c.requests, r)
	return func(status int, bytes int64) {
		c.mu.Lock()
		defer c.mu.Unlock()
		r.Status, r.Bytes = status, bytes
	}
}

// upload stores a file if it has the hash in its address. It returns the size of the body.
func (c *CDN) upload(w http.ResponseWriter, r *http.Request) int64 {
	parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	// Clients write the token with or without padding.
	token, err := base64.RawURLEncoding.DecodeString(strings.TrimRight(parts[len(parts)-1], "="))
	if len(parts) != 3 || err != nil || len(token) != sha256.Size || r.URL.Query().Get("auth") == "" {
		http.Error(w, "bad upload address", http.StatusBadRequest)
		return 0
	}
	b, size, err := c.store(r.Body)
	if err != nil {
		http.Error(w, "upload broken off", http.StatusInternalServerError)
		return size
	}
	if b.hash != [32]byte(token) {
		http.Error(w, "the body is not what the address says", http.StatusBadRequest)
		return size
	}
	path := c.keep(b)
	direct := path + "?ccb=11-4&oh=simulated&oe=simulated&_nc_sid=5e03e0"
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]string{
		"url": "https://" + c.addr() + direct, "direct_path": direct, "handle": hex.EncodeToString(wire.Random(8)),
	})
	return size
}

func (c *CDN) store(body io.Reader) (b *blob, size int64, err error) {
	c.mu.Lock()
	dir := c.dir
	c.mu.Unlock()
	b = &blob{at: time.Now()}
	hash := sha256.New()
	if dir == "" {
		b.data, err = io.ReadAll(io.TeeReader(body, hash))
		size = int64(len(b.data))
	} else {
		b.file = filepath.Join(dir, hex.EncodeToString(wire.Random(16)))
		size, err = writeFile(b.file, io.TeeReader(body, hash))
	}
	copy(b.hash[:], hash.Sum(nil))
	return b, size, err
}

func writeFile(path string, body io.Reader) (int64, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return 0, fmt.Errorf("store an upload: %w", err)
	}
	size, err := io.Copy(f, body)
	return size, errors.Join(err, f.Close())
}

func (c *CDN) keep(b *blob) (path string) {
	path = "/v/t62.7118-24/" + hex.EncodeToString(wire.Random(16)) + "_n.enc"
	c.mu.Lock()
	defer c.mu.Unlock()
	c.blobs[path] = b
	return path
}

// remove deletes the file that a request names, as clients do with histories they have taken over.
func (c *CDN) remove(r *http.Request) {
	path, err := base64.RawURLEncoding.DecodeString(r.URL.Query().Get("d_md"))
	if err != nil {
		return // the server reports no failed deletion
	}
	c.mu.Lock()
	delete(c.blobs, string(path))
	c.mu.Unlock()
	c.removed()
}

// Has reports whether a file exists, expired or not.
func (c *CDN) Has(path string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.blobs[path] != nil
}

// download serves a file, or the status of one that is gone.
func (c *CDN) download(w http.ResponseWriter, r *http.Request, fault CDNFault) {
	c.mu.Lock()
	b, status := c.blobs[r.URL.Path], c.expired[r.URL.Path]
	c.mu.Unlock()
	switch {
	case status != 0:
		w.WriteHeader(status)
		return
	case b == nil:
		w.WriteHeader(http.StatusNotFound)
		return
	}
	content, err := b.open(fault.Tamper)
	if err != nil {
		http.Error(w, "stored file unreadable", http.StatusInternalServerError)
		return
	}
	defer func() { _ = content.Close() }()
	w.Header().Set("Content-Type", "application/octet-stream")
	if fault.Truncate > 0 || fault.Stall > 0 {
		c.downloadPart(w, r, content, fault)
		return
	}
	http.ServeContent(w, r, "", b.at, content)
}

type readSeekCloser struct {
	io.ReadSeeker
	io.Closer
}

// open opens a stored file, with one bit flipped if tamper is set.
func (b *blob) open(tamper bool) (io.ReadSeekCloser, error) {
	data := b.data
	if b.file != "" && !tamper {
		return os.Open(b.file)
	}
	if b.file != "" {
		var err error
		if data, err = os.ReadFile(b.file); err != nil {
			return nil, err
		}
	}
	if tamper && len(data) > 0 {
		data = slices.Clone(data)
		data[len(data)/2] ^= 1
	}
	return readSeekCloser{bytes.NewReader(data), io.NopCloser(nil)}, nil
}

// countingWriter records the status and the size of an answer.
type countingWriter struct {
	http.ResponseWriter
	status  int
	written int64
}

func (w *countingWriter) WriteHeader(status int) {
	w.status = status
	w.ResponseWriter.WriteHeader(status)
}

func (w *countingWriter) Write(p []byte) (int, error) {
	n, err := w.ResponseWriter.Write(p)
	w.written += int64(n)
	return n, err
}

// Unwrap lets a response controller reach the real writer.
func (w *countingWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// Requests returns all requests so far, in order.
func (c *CDN) Requests() []CDNRequest {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := make([]CDNRequest, len(c.requests))
	for i, r := range c.requests {
		out[i] = *r
	}
	return out
}

// Downloads returns the number of downloads of a path so far, or of all if it is empty.
func (c *CDN) Downloads(directPath string) int {
	return c.count(PlainPath(directPath), http.MethodGet)
}

// Uploads returns the number of uploads so far.
func (c *CDN) Uploads() int { return c.count("", http.MethodPost) }

func (c *CDN) count(path, method string) (found int) {
	for _, r := range c.Requests() {
		if r.Method == method && (path == "" || r.Path == path) {
			found++
		}
	}
	return found
}

// PlainPath returns a path without its query.
func PlainPath(directPath string) string {
	path, _, _ := strings.Cut(directPath, "?")
	return path
}

// Reupload gives a stored file a new path. The same key yields the same ciphertext, so the stored one serves again.
func (c *CDN) Reupload(directPath string) (path string, ok bool) {
	c.mu.Lock()
	b := c.blobs[PlainPath(directPath)]
	c.mu.Unlock()
	if b == nil {
		return "", false
	}
	return c.keep(b) + "?ccb=11-4&oh=simulated&oe=simulated", true
}

// Picture is the picture of an account or a group: two unencrypted files on the CDN.
type Picture struct {
	ID string
	// Paths and Hashes are keyed by the type that clients ask for: preview or image.
	Paths, Hashes map[string]string
}

// Picture stores both files of a picture on the CDN; it returns nil without any.
func (c *CDN) Picture(full, preview []byte) *Picture {
	if len(full) == 0 {
		return nil
	}
	shown := &Picture{ID: strconv.FormatInt(time.Now().UnixNano(), 10), Paths: map[string]string{}, Hashes: map[string]string{}}
	c.mu.Lock()
	defer c.mu.Unlock()
	for kind, data := range map[string][]byte{"image": full, "preview": preview} {
		hash := sha256.Sum256(data)
		path := "/v/t61.24694-24/" + hex.EncodeToString(wire.Random(16)) + "_n.jpg"
		c.blobs[path] = &blob{data: slices.Clone(data), hash: hash, at: time.Now()}
		shown.Paths[kind], shown.Hashes[kind] = path, base64.StdEncoding.EncodeToString(hash[:])
	}
	return shown
}
