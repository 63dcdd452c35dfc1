package media

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/gabriel-vasile/mimetype"
	"github.com/rs/zerolog"
	"golang.org/x/sync/singleflight"

	"bridged/internal/bridge"
)

const (
	// pictureLife is how long a picture is kept, and that there is none.
	pictureLife = 24 * time.Hour
	// maxPicture bounds the file of a picture, in bytes. Real ones have some hundred
	// kilobytes at most.
	maxPicture = 1 << 20
	// maxPictures bounds how many are kept: that there is none takes hardly any room.
	maxPictures = 20_000
	// pictureTime bounds the question to the network and the download.
	pictureTime = 30 * time.Second
	// picturesAtOnce bounds how many are asked for at a time.
	picturesAtOnce = 4
)

// pictureTypes are what pictures of people and groups may be.
var pictureTypes = []string{"image/jpeg", "image/png", "image/webp"}

// PictureAccount asks the network for pictures and names its media servers.
type PictureAccount interface {
	// Picture asks where the picture of a person or a group is. It fails with
	// [bridge.CodeNoPicture], [bridge.CodePictureHidden] or [bridge.CodeNotConnected].
	Picture(ctx context.Context, of bridge.JID, size bridge.PictureSize) (bridge.Picture, error)
	// MediaConn implements [bridge.MediaConns].
	MediaConn(ctx context.Context, refresh bool) (bridge.MediaConn, error)
}

// PicturesOptions configures [NewPictures].
type PicturesOptions struct {
	// Dir holds the pictures. It is created if it does not exist.
	Dir string
	// MaxBytes limits what is kept on the disk.
	MaxBytes int64
	CDN      *CDN
	Account  PictureAccount
	Log      zerolog.Logger
	// Now is the clock by which pictures expire; nil is the machine's.
	Now func() time.Time
}

// Pictures opens the pictures of people and groups. What the network said and sent
// is kept for a day, also that there is none, or until it tells of a change. It is
// safe for concurrent use.
type Pictures struct {
	cdn     *CDN
	account PictureAccount
	kept    *pictureFiles
	asking  singleflight.Group
	turns   chan struct{}
	log     zerolog.Logger
}

// NewPictures opens the pictures in a directory, with those that an earlier one left.
func NewPictures(o PicturesOptions) (*Pictures, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	kept, err := openPictureFiles(o.Dir, o.MaxBytes, o.Now)
	if err != nil {
		return nil, fmt.Errorf("open the pictures: %w", err)
	}
	return &Pictures{cdn: o.CDN, account: o.Account, kept: kept, turns: make(chan struct{}, picturesAtOnce), log: o.Log}, nil
}

// Open opens the picture of a person or a group. Whoever wants the same one waits for
// one answer of the network, which is kept also when nobody waits any more.
//
// Its errors are [bridge.CodeNoPicture], [bridge.CodePictureHidden],
// [bridge.CodeMediaInvalid], [bridge.CodeMediaUnavailable],
// [bridge.CodeStorageUnavailable] and those of the account.
func (p *Pictures) Open(ctx context.Context, of bridge.JID, size bridge.PictureSize) (*PictureFile, error) {
	if file, err := p.kept.open(of, size); file != nil || err != nil {
		return file, err
	}
	answered := p.asking.DoChan(string(of)+" "+string(size), func() (any, error) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), pictureTime)
		defer cancel()
		return p.ask(ctx, of, size)
	})
	select {
	case answer := <-answered:
		if answer.Err != nil {
			return nil, answer.Err
		}
		return answer.Val.(keptPicture).file()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Forget drops what is kept of the pictures of somebody, by all of their names.
func (p *Pictures) Forget(names ...bridge.JID) {
	for _, of := range names {
		if err := p.kept.forget(of); err != nil {
			p.log.Error().Err(err).Msg("a picture that has changed was not removed")
		}
	}
}

// ask has the network tell of a picture, and keeps what it says and sends.
func (p *Pictures) ask(ctx context.Context, of bridge.JID, size bridge.PictureSize) (keptPicture, error) {
	select {
	case p.turns <- struct{}{}:
	case <-ctx.Done():
		return keptPicture{}, bridge.Fail(bridge.CodeMediaUnavailable, "too many other pictures are being asked for: try again later")
	}
	defer func() { <-p.turns }()
	began := p.kept.generation()
	picture, err := p.fetch(ctx, of, size)
	if err != nil {
		return picture, err
	}
	if err := p.kept.keep(of, size, began, picture); err != nil {
		p.log.Warn().Err(err).Msg("a picture was not kept")
	}
	return picture, nil
}

// fetch returns what the network says and sends.
func (p *Pictures) fetch(ctx context.Context, of bridge.JID, size bridge.PictureSize) (keptPicture, error) {
	place, err := p.account.Picture(ctx, of, size)
	if code := bridge.CodeOf(err); err != nil && (code == bridge.CodeNoPicture || code == bridge.CodePictureHidden) {
		return keptPicture{Missing: code, at: p.kept.now()}, nil
	}
	if err != nil {
		return keptPicture{}, err
	}
	data, err := p.cdn.picture(ctx, p.account.MediaConn, place)
	if errors.Is(err, errGone) { // it has changed since the network was asked
		return keptPicture{}, bridge.Fail(bridge.CodeMediaUnavailable, "the network's media server does not have the picture: try again later").Because(err)
	}
	if err != nil {
		return keptPicture{}, explain(ctx, err)
	}
	mimeType := mimetype.Detect(data).String()
	if !slices.Contains(pictureTypes, mimeType) {
		return keptPicture{}, bridge.Fail(bridge.CodeMediaInvalid, "what the network sent is not a picture").Because(fmt.Errorf("it is %s", mimeType))
	}
	sum := sha256.Sum256(data)
	return keptPicture{MimeType: mimeType, SHA256: sum[:], Size: int64(len(data)), at: p.kept.now(), data: data}, nil
}

// file returns a picture that was just fetched.
func (k keptPicture) file() (*PictureFile, error) {
	if k.Missing != "" {
		return nil, missingPicture(k.Missing)
	}
	return &PictureFile{ReadSeeker: bytes.NewReader(k.data), MimeType: k.MimeType, SHA256: k.SHA256, At: k.at, close: func() error { return nil }}, nil
}

// picture downloads a picture from the network's media servers.
func (c *CDN) picture(ctx context.Context, conns bridge.MediaConns, picture bridge.Picture) (data []byte, err error) {
	conn, err := c.connect(ctx, conns, false)
	if err != nil {
		return nil, err
	}
	err = c.onHosts(ctx, conn.Hosts, func(host string) error {
		address, err := c.pictureURL(host, picture)
		if err != nil {
			return bridge.Fail(bridge.CodeMediaInvalid, "the network does not say properly where the picture is").Because(err)
		}
		data, err = c.fetchPicture(ctx, address)
		return err
	})
	return data, err
}

// pictureURL returns the address of a picture on a host, as the network's clients
// build it: like a file's, without a hash and a kind.
func (c *CDN) pictureURL(host string, picture bridge.Picture) (string, error) {
	if !bridge.IsDirectPath(picture.DirectPath) {
		return "", errors.New("the picture's path is not a path on a media server")
	}
	separator := "&"
	if !strings.Contains(picture.DirectPath, "?") {
		separator = "?"
	}
	return c.address(host, picture.DirectPath+separator+"hash=&mms-type=&__wa-mms=")
}

func (c *CDN) fetchPicture(ctx context.Context, address string) ([]byte, error) {
	watch := watchIdle(ctx, c.downloadIdle)
	defer watch.stop()
	resp, err := c.do(watch.ctx, http.MethodGet, address, nil, nil)
	if err != nil {
		return nil, watch.explain(err)
	}
	defer func() { _ = resp.Body.Close() }()
	switch {
	case isGone(resp.StatusCode):
		return nil, fmt.Errorf("%w (%d)", errGone, resp.StatusCode)
	case resp.StatusCode != http.StatusOK:
		return nil, newStatusError(resp)
	case resp.ContentLength > maxPicture:
		return nil, errOverLimit
	}
	data, err := io.ReadAll(&incomingBody{r: resp.Body, left: maxPicture, tooLong: errOverLimit, watch: watch})
	return data, watch.explain(err)
}
