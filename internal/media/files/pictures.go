package files

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/gabriel-vasile/mimetype"
	"github.com/rs/zerolog"
	"golang.org/x/sync/semaphore"
	"golang.org/x/sync/singleflight"

	"bridged/internal/bridge"
	"bridged/internal/media/cdn"
)

const (
	pictureLife    = 24 * time.Hour   // how long an answer is stored
	maxPicture     = 1 << 20          // bytes; real ones have some hundred kilobytes at most
	maxPictures    = 20_000           // stored answers: "no picture" takes hardly any space
	pictureTimeout = 30 * time.Second // for the query to the network and the download
	picturesAtOnce = 4                // queries at a time
)

var (
	pictureTypes = []string{"image/jpeg", "image/png", "image/webp"}
	// noPicture has the answers without a picture, which are stored as their codes.
	noPicture = map[bridge.Code]string{
		bridge.CodePictureHidden: "the picture is not shown to this account",
		bridge.CodeNoPicture:     "there is no picture",
	}
)

// PictureAccount asks the network for pictures and names its media servers.
type PictureAccount interface {
	// Picture returns the address of a person's or group's picture. It fails with
	// [bridge.CodeNoPicture], [bridge.CodePictureHidden] or [bridge.CodeNotConnected].
	Picture(ctx context.Context, of bridge.JID, size bridge.PictureSize) (bridge.Picture, error)
	// MediaConn implements [bridge.MediaConns].
	MediaConn(ctx context.Context, refresh bool) (bridge.MediaConn, error)
}

// PicturesOptions configures [NewPictures].
type PicturesOptions struct {
	// Dir holds the pictures. It is created if it does not exist.
	Dir string
	// MaxBytes limits the disk space.
	MaxBytes int64
	CDN      *cdn.Client
	Account  PictureAccount
	Log      zerolog.Logger
	// Now is the clock for the expiry of pictures; nil means the machine's.
	Now func() time.Time
}

// Pictures opens the pictures of people and groups. It stores the network's answers, also "no picture",
// for a day or until a change is received. It is safe for concurrent use.
type Pictures struct {
	opts   PicturesOptions
	asking singleflight.Group
	turns  *semaphore.Weighted

	mu      sync.Mutex
	lru     *lru   // guarded by mu
	changes uint64 // how often something was forgotten; guarded by mu
}

// PictureFile is the picture of a person or a group.
type Picture struct {
	*bytes.Reader
	MimeType string
	SHA256   []byte
	At       time.Time // when the network sent it
}

// NewPictures opens the pictures in a directory, with the pictures of earlier runs.
func NewPictures(o PicturesOptions) (*Pictures, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	stored, err := newLRU(o.Dir, o.MaxBytes)
	if err != nil {
		return nil, fmt.Errorf("open the pictures: %w", err)
	}
	p := &Pictures{opts: o, lru: stored, turns: semaphore.NewWeighted(picturesAtOnce)}
	return p, p.evict()
}

// Open opens the picture of a person or a group. Concurrent callers of one picture use one query to
// the network. Its answer is stored even if all callers go away.
//
// Its errors are [bridge.CodeNoPicture], [bridge.CodePictureHidden],
// [bridge.CodeMediaInvalid], [bridge.CodeMediaUnavailable] and the errors of the account.
func (p *Pictures) Open(ctx context.Context, of bridge.JID, size bridge.PictureSize) (*Picture, error) {
	name := nameOfPicture(of, size)
	if file, err := p.open(name); file != nil || err != nil {
		return file, err
	}
	answered := p.asking.DoChan(name, func() (any, error) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), pictureTimeout)
		defer cancel()
		return p.ask(ctx, of, size)
	})
	select {
	case answer := <-answered:
		if answer.Err != nil {
			return nil, answer.Err
		}
		return pictureIn(answer.Val.([]byte), p.opts.Now())
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// nameOfPicture returns the cache's name for a picture, which does not show the phone number.
func nameOfPicture(of bridge.JID, size bridge.PictureSize) string {
	sum := sha256.Sum256([]byte(string(of) + " " + string(size)))
	return namePrefix + hex.EncodeToString(sum[:])
}

// open returns a stored picture, nil without one, or the stored error.
func (p *Pictures) open(name string) (*Picture, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	stored := p.lru.find(name)
	if stored == nil || p.isOld(stored) {
		return nil, nil
	}
	if data := p.lru.read(stored); data != nil {
		return pictureIn(data, stored.at)
	}
	return nil, nil // the network is asked again
}

// pictureIn returns the picture in an answer, or the error whose code it holds instead.
func pictureIn(answer []byte, at time.Time) (*Picture, error) {
	if why, ok := noPicture[bridge.Code(answer)]; ok {
		return nil, bridge.Fail(bridge.Code(answer), "%s", why)
	}
	mimeType, sum := mimetype.Detect(answer).String(), sha256.Sum256(answer)
	if !slices.Contains(pictureTypes, mimeType) {
		return nil, bridge.Fail(bridge.CodeMediaInvalid, "the network sent something that is not a picture").Because(fmt.Errorf("it is %s", mimeType))
	}
	return &Picture{Reader: bytes.NewReader(answer), MimeType: mimeType, SHA256: sum[:], At: at}, nil
}

// Forget removes the stored answers for a person or a group, by all of their JIDs.
func (p *Pictures) Forget(names ...bridge.JID) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, of := range names {
		p.changes++
		err := errors.Join(p.lru.forget(nameOfPicture(of, bridge.PicturePreview)), p.lru.forget(nameOfPicture(of, bridge.PictureFull)))
		if err != nil {
			p.opts.Log.Error().Err(err).Msg("cannot remove a picture that has changed")
		}
	}
}

// ask asks the network for a picture, and stores the answer.
func (p *Pictures) ask(ctx context.Context, of bridge.JID, size bridge.PictureSize) ([]byte, error) {
	if p.turns.Acquire(ctx, 1) != nil {
		return nil, bridge.Fail(bridge.CodeMediaUnavailable, "too many other pictures are being asked for: try again later")
	}
	defer p.turns.Release(1)
	p.mu.Lock()
	before := p.changes
	p.mu.Unlock()
	data, err := p.fetch(ctx, of, size)
	if err != nil {
		return nil, err
	}
	if err := p.store(nameOfPicture(of, size), before, data); err != nil {
		p.opts.Log.Warn().Err(err).Msg("cannot store a picture")
	}
	return data, nil
}

// fetch returns the picture, or the error code in its place.
func (p *Pictures) fetch(ctx context.Context, of bridge.JID, size bridge.PictureSize) ([]byte, error) {
	place, err := p.opts.Account.Picture(ctx, of, size)
	if err != nil {
		if code := bridge.CodeOf(err); noPicture[code] != "" {
			return []byte(code), nil
		}
		return nil, err
	}
	data, err := p.opts.CDN.Picture(ctx, p.opts.Account.MediaConn, place.DirectPath, maxPicture)
	if errors.Is(err, cdn.ErrGone) { // it has changed since the network was asked
		return nil, bridge.Fail(bridge.CodeMediaUnavailable, "the network's media server does not have the picture: try again later").Because(err)
	}
	if err == nil {
		_, err = pictureIn(data, time.Time{}) // only valid pictures are stored
	}
	return data, cdn.Explain(ctx, err)
}

// store stores a picture, unless a picture has changed since the count of changes was read.
func (p *Pictures) store(name string, changes uint64, data []byte) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.changes != changes {
		return nil
	}
	if err := p.lru.write(name, data, p.opts.Now()); err != nil {
		return err
	}
	return p.evict()
}

func (p *Pictures) isOld(stored *entry) bool { return p.opts.Now().Sub(stored.at) >= pictureLife }

// evict removes pictures that are too old, and the least recently used of too many. The caller holds mu.
func (p *Pictures) evict() (err error) {
	for element := p.lru.order.Back(); element != nil; {
		stored := element.Value.(*entry)
		element = element.Prev()
		if p.isOld(stored) || p.lru.order.Len() > maxPictures {
			err = errors.Join(err, p.lru.forget(stored.name))
		}
	}
	p.lru.shrink(p.lru.max)
	return err
}
