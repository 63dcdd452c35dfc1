package cloud

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"mime"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"bridged/internal/bridge"
	"bridged/internal/compat"
	"bridged/internal/intake"
)

// UploadsDir is the directory of uploaded files in the data directory.
const UploadsDir = "uploads"

const (
	// uploadLife is how long an uploaded file is stored.
	uploadLife     = 24 * time.Hour
	maxUploads     = 1 << 30 // bytes of all uploaded files
	maxUploadCount = 4096    // number of uploaded files
	// maxMIMEType limits the type that a sender gives, in bytes.
	maxMIMEType = 200
)

// These are the quotas of token trees. A quarter is reserved for BRIDGE_TOKEN.
var uploadBytes, uploadCount = intake.Divide(maxUploads), intake.Divide(maxUploadCount)

// uploads stores uploaded files for a day, or until their token ends. Each file has its id as its name, and its
// description next to it. Only the token that uploaded a file can see it.
type uploads struct {
	dir string
	log zerolog.Logger
	now func() time.Time
	// untilRevoked is as in [compat.Options].
	untilRevoked func(ctx context.Context, token int64) (until context.Context, valid bool)

	mu   sync.Mutex
	byID map[string]*upload // guarded by mu
}

// upload describes an uploaded file.
type upload struct {
	Owner    string    `json:"owner"` // hash of the token that uploaded it
	Token    int64     `json:"token"` // id of the token; 0 is BRIDGE_TOKEN
	Tree     int64     `json:"family"`
	Name     string    `json:"name"`
	MimeType string    `json:"mimeType"`
	Size     int64     `json:"size"`
	SHA256   string    `json:"sha256"`
	At       time.Time `json:"at"`
	Until    time.Time `json:"until"`

	isComplete bool // false while it is being written
	expiry     *time.Timer
	stop       func() bool // stops waiting for the revocation of the token
}

// openUploads opens the directory with the files of earlier runs.
func openUploads(o compat.Options) (*uploads, error) {
	u := &uploads{dir: filepath.Join(o.DataDir, UploadsDir), log: o.Log, now: time.Now, untilRevoked: o.UntilRevoked, byID: make(map[string]*upload)}
	if err := os.MkdirAll(u.dir, 0o700); err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(u.dir)
	if err != nil {
		return nil, err
	}
	for _, entry := range entries {
		id, isDescription := strings.CutSuffix(entry.Name(), ".json")
		if one, err := u.read(id); isDescription && err == nil && u.now().Before(one.Until) {
			u.add(id, one)
		}
	}
	for _, entry := range entries { // remove what an interrupted run has left
		if id := strings.TrimSuffix(entry.Name(), ".json"); u.byID[id] == nil {
			u.erase(id)
		}
	}
	return u, nil
}

func (u *uploads) path(id string) string { return filepath.Join(u.dir, id) }

// read reads the description of a file. It returns an error if the file is incomplete.
func (u *uploads) read(id string) (*upload, error) {
	data, err := os.ReadFile(u.path(id) + ".json")
	if err != nil {
		return nil, err
	}
	one := &upload{isComplete: true}
	if err := json.Unmarshal(data, one); err != nil {
		return nil, err
	}
	info, err := os.Stat(u.path(id))
	if err == nil && info.Size() != one.Size {
		err = errors.New("the file is incomplete")
	}
	return one, err
}

// add adds a file until it expires, unless its token has ended.
func (u *uploads) add(id string, one *upload) {
	revoked := context.Background()
	if one.Token != 0 {
		var valid bool
		if revoked, valid = u.untilRevoked(context.Background(), one.Token); !valid {
			return
		}
	}
	u.byID[id] = one
	one.expiry = time.AfterFunc(one.Until.Sub(u.now()), func() { u.delete(id) })
	one.stop = context.AfterFunc(revoked, func() { u.delete(id) })
}

// delete deletes a file.
func (u *uploads) delete(id string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if one := u.byID[id]; one != nil {
		one.expiry.Stop()
		one.stop()
		delete(u.byID, id)
	}
	u.erase(id)
}

func (u *uploads) erase(id string) {
	for _, path := range []string{u.path(id), u.path(id) + ".json"} {
		if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
			u.log.Error().Err(err).Msg("cannot remove an uploaded file")
		}
	}
}

// ownerOf returns the hash of a token.
func ownerOf(token string) string {
	sum := sha256.Sum256([]byte("uploads of " + token))
	return hex.EncodeToString(sum[:])
}

// store stores a file of the token with a secret, and returns its id.
func (u *uploads) store(secret string, token bridge.Token, from *compat.Upload, mimeType string) (id string, err error) {
	one := &upload{
		Owner: ownerOf(secret), Token: token.ID, Tree: token.Tree,
		Name: bridge.PlainFileName(from.Name), MimeType: typeOf(from, mimeType), Size: from.Size(), At: u.now(),
	}
	if one.Until = one.At.Add(uploadLife); token.ExpiresAt != nil && token.ExpiresAt.Before(one.Until) {
		one.Until = token.ExpiresAt.Time
	}
	id = uploadPrefix + rand.Text()
	if err := u.reserve(id, one); err != nil {
		return "", err
	}
	if err := u.write(id, one, from.Open()); err != nil {
		u.delete(id)
		return "", bridge.Fail(bridge.CodeStorageUnavailable, "the file could not be stored: the disk may be full").Because(err)
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.byID[id] == nil { // its token ended in the meantime
		u.erase(id)
		return "", bridge.Fail(bridge.CodeUnauthorized, "the token has expired or was revoked")
	}
	one.isComplete = true
	return id, nil
}

// reserve adds a file if the quota of its token tree allows it.
func (u *uploads) reserve(id string, one *upload) error {
	u.mu.Lock()
	defer u.mu.Unlock()
	var size, count intake.Usage
	oldest := one.Until
	for _, other := range append(slices.Collect(maps.Values(u.byID)), one) {
		size.Add(one.Tree, other.Tree, other.Size)
		count.Add(one.Tree, other.Tree, 1)
		if other.Until.Before(oldest) {
			oldest = other.Until
		}
	}
	if !uploadBytes.Admits(one.Tree, size) || !uploadCount.Admits(one.Tree, count) {
		return &bridge.Error{
			Code: bridge.CodeRateLimited, RetryAfter: max(oldest.Sub(one.At), time.Second),
			Msg: "there is no space for another uploaded file: DELETE files that were sent; each is removed after a day",
		}
	}
	if u.add(id, one); u.byID[id] == nil {
		return bridge.Fail(bridge.CodeUnauthorized, "the token has expired or was revoked")
	}
	return nil
}

// write writes a file and its description.
func (u *uploads) write(id string, one *upload, from io.Reader) error {
	file, err := os.OpenFile(u.path(id), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	sum := sha256.New()
	_, err = io.Copy(io.MultiWriter(file, sum), from)
	if err := errors.Join(err, file.Close()); err != nil {
		return err
	}
	one.SHA256 = hex.EncodeToString(sum.Sum(nil))
	return u.describe(id, one)
}

// describe writes the description of a file.
func (u *uploads) describe(id string, one *upload) error {
	description, err := json.Marshal(one)
	if err != nil {
		return err
	}
	return os.WriteFile(u.path(id)+".json", description, 0o600)
}

// typeOf returns the type that the sender of a file gives. If that is not valid, it is detected.
func typeOf(from *compat.Upload, given string) string {
	for _, one := range []string{given, from.MimeType} {
		kind, parameters, err := mime.ParseMediaType(one)
		if err != nil || !strings.Contains(kind, "/") || kind == bridge.UnknownMIMEType || len(one) > maxMIMEType {
			continue
		}
		if text := mime.FormatMediaType(kind, parameters); text != "" {
			return text
		}
	}
	head := make([]byte, 512)
	n, _ := from.ReadAt(head, 0) // an error means that the file is shorter
	return http.DetectContentType(head[:n])
}

// find returns a file of the token. The caller holds mu.
func (u *uploads) find(token, id string) (*upload, error) {
	one := u.byID[id]
	if one == nil || !one.isComplete || one.Owner != ownerOf(token) || !u.now().Before(one.Until) {
		return nil, bridge.NotFound("there is no file with the id %q: an uploaded file can be sent for a day, with the token that uploaded it", bridge.Beginning(id, 100))
	}
	return one, nil
}

// open opens a file of the token.
func (u *uploads) open(token, id string) (*compat.Upload, error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	one, err := u.find(token, id)
	if err != nil {
		return nil, err
	}
	file, err := os.Open(u.path(id))
	if err != nil {
		return nil, bridge.Fail(bridge.CodeStorageUnavailable, "the uploaded file cannot be read").Because(err)
	}
	return &compat.Upload{File: openFile{file, one.Size}, Name: one.Name, MimeType: one.MimeType}, nil
}

// openFile is an open uploaded file.
type openFile struct {
	*os.File
	size int64
}

// Size returns the size of the file in bytes.
func (f openFile) Size() int64 { return f.size }

// Close closes the file without removing it.
func (f openFile) Close() { _ = f.File.Close() } // it was only read

// sum returns the SHA-256 of a file in hexadecimal.
func (u *uploads) sum(id string) string {
	u.mu.Lock()
	defer u.mu.Unlock()
	if one := u.byID[id]; one != nil {
		return one.SHA256
	}
	return ""
}

// remove removes a file of the token.
func (u *uploads) remove(token, id string) error {
	u.mu.Lock()
	_, err := u.find(token, id)
	u.mu.Unlock()
	if err == nil {
		u.delete(id)
	}
	return err
}
