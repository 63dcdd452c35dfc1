package files

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"bridged/internal/bridge"
	"bridged/internal/media/cdn"
)

const (
	maxScaled     = 16 << 20 // bytes of a file that is scaled; larger ones are shown as the sender's thumbnail
	maxEmbedded   = 1 << 20  // bytes of a sender's thumbnail; real ones have some kilobytes
	maxThumbnails = 20_000   // stored thumbnails
)

// ThumbnailSide is the longer side of a thumbnail, in pixels.
type ThumbnailSide int

// These are the sizes of thumbnails.
const (
	ThumbnailOfTile   ThumbnailSide = 320
	ThumbnailOfBubble ThumbnailSide = 640
)

var thumbnailSides = []ThumbnailSide{ThumbnailOfTile, ThumbnailOfBubble}

// ThumbnailsOptions configures [NewThumbnails].
type ThumbnailsOptions struct {
	// Dir holds the thumbnails. It is created if it does not exist.
	Dir string
	// MaxBytes limits the disk space.
	MaxBytes int64
	// Scale returns a picture as a JPEG whose longer side has at most so many pixels. It limits its own memory and time.
	Scale func(ctx context.Context, from io.Reader, side int) ([]byte, error)
	// Embedded returns the thumbnail that the sender has put into a message; nil if none.
	Embedded func(raw []byte) []byte
	Log      zerolog.Logger
}

// Thumbnails makes small pictures of the files of messages, and stores them until a file is forgotten or
// others need the space. It is safe for concurrent use.
type Thumbnails struct {
	opts ThumbnailsOptions

	mu      sync.Mutex
	lru     *lru   // guarded by mu
	changes uint64 // how often something was forgotten; guarded by mu
}

// NewThumbnails opens the thumbnails in a directory, with the ones of earlier runs.
func NewThumbnails(o ThumbnailsOptions) (*Thumbnails, error) {
	stored, err := newLRU(o.Dir, o.MaxBytes)
	if err != nil {
		return nil, fmt.Errorf("open the thumbnails: %w", err)
	}
	return &Thumbnails{opts: o, lru: stored}, nil
}

// Open returns a thumbnail of a message: its picture scaled down, or the thumbnail that the sender has put into the
// message, of a video or of the page that a text links to.
//
// Its errors are [bridge.CodeNoPicture] if there is none, and the error of ctx.
func (t *Thumbnails) Open(ctx context.Context, files *Cache, m bridge.Message, side ThumbnailSide) (*Picture, error) {
	if m.Media != nil && m.Media.Type == bridge.MediaImage {
		picture, err := t.scaled(ctx, files, m, side)
		if err == nil || ctx.Err() != nil {
			return picture, err
		}
		t.opts.Log.Debug().Err(err).Str("msg_id", m.ID).Msg("cannot make a thumbnail")
	}
	embedded := t.opts.Embedded(m.Raw)
	picture, err := pictureIn(embedded, m.Timestamp.Time)
	if err != nil || len(embedded) > maxEmbedded {
		return nil, bridge.Fail(bridge.CodeNoPicture, "there is no thumbnail").Because(err)
	}
	return picture, nil
}

// nameOfThumbnail returns the name of a thumbnail on the disk. It does not depend on the hash that the sender claims.
func nameOfThumbnail(m *bridge.Media, side ThumbnailSide) (string, error) {
	id := "imported " + hex.EncodeToString(m.Ref.FileSHA256)
	if !m.Ref.IsImported {
		identity, isLasting, err := cdn.Identity(m)
		if err != nil {
			return "", err
		}
		if !isLasting {
			return "", errors.New("nothing identifies the file")
		}
		id = identity
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %d", id, side))
	return namePrefix + hex.EncodeToString(sum[:]), nil
}

// scaled returns the stored thumbnail of a picture, or makes it.
func (t *Thumbnails) scaled(ctx context.Context, files *Cache, m bridge.Message, side ThumbnailSide) (*Picture, error) {
	name, err := nameOfThumbnail(m.Media, side)
	if err != nil {
		return nil, err
	}
	stored, changes := t.find(name)
	if stored != nil {
		return pictureIn(stored, m.Timestamp.Time)
	}
	data, err := t.scale(ctx, files, m, side)
	if err != nil {
		return nil, err
	}
	if err := t.store(name, changes, data); err != nil {
		t.opts.Log.Warn().Err(err).Msg("cannot store a thumbnail")
	}
	return pictureIn(data, m.Timestamp.Time)
}

// find returns a stored thumbnail, nil without one, and how often something was forgotten.
func (t *Thumbnails) find(name string) (data []byte, changes uint64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if stored := t.lru.find(name); stored != nil {
		data = t.lru.read(stored)
	}
	return data, t.changes
}

func (t *Thumbnails) scale(ctx context.Context, files *Cache, m bridge.Message, side ThumbnailSide) (data []byte, err error) {
	file, err := files.Open(ctx, m)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	if file.Size > maxScaled {
		return nil, bridge.Fail(bridge.CodeUnsupportedMedia, "the picture has %d bytes, too many for a thumbnail", file.Size)
	}
	return t.opts.Scale(ctx, file, int(side))
}

// store stores a thumbnail, unless a file was forgotten since changes was read, because it could be this one.
func (t *Thumbnails) store(name string, changes uint64, data []byte) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.changes != changes {
		return nil
	}
	if err := t.lru.write(name, data, time.Now()); err != nil {
		return err
	}
	t.lru.shrink(t.lru.max)
	for t.lru.order.Len() > maxThumbnails {
		if err := t.lru.remove(t.lru.order.Back()); err != nil {
			return err
		}
	}
	return nil
}

// forget removes the thumbnails of a file.
func (t *Thumbnails) forget(m *bridge.Media) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.changes++
	var failed []error
	for _, side := range thumbnailSides {
		if name, err := nameOfThumbnail(m, side); err == nil {
			failed = append(failed, t.lru.forget(name))
		}
	}
	return errors.Join(failed...)
}
