// Package media handles the files that messages carry, in both directions, in memory
// that does not grow with their size.
//
// Outgoing: a [Preparer] fetches a URL through the guard into a temporary file,
// recognises its format, measures it and returns a [bridge.File]. A measurement that
// fails leaves its field empty. [CDN.Upload] encrypts the file and uploads it.
//
// Incoming: a [Cache] opens the file of a [bridge.Message]. It downloads from the
// network's CDN, decrypts in one pass, and shows a file only once it is verified whole.
//
// A [CDN] makes every request to the network's media servers.
package media

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/rs/zerolog"

	"bridged/internal/bridge"
	"bridged/internal/intake"
	"bridged/internal/transcode"
	"bridged/internal/urlguard"
)

// ConvertTime bounds the converting of a file.
const ConvertTime = transcode.MaxTime

// progressEvery is how often a long transfer is logged.
const progressEvery = 5 * time.Second

// PreparerOptions configures a [Preparer].
type PreparerOptions struct {
	Guard    *urlguard.Guard
	TempDir  string // created if it does not exist, but none above it
	MaxBytes int64  // of a fetched file
	Setting  string // sets MaxBytes, for errors; empty for MEDIA_MAX_BYTES
	Cache    *Cache // evicts files when the disk is full; may be nil
	// Converter converts sounds and films; nil without ffmpeg.
	Converter *transcode.Converter
	Log       zerolog.Logger
}

// Preparer fetches and describes files to be sent. It is safe for concurrent use.
type Preparer struct {
	opts PreparerOptions
	// decoding admits one picture at a time, of token trees in turn: no other step's memory
	// depends on the file.
	decoding *intake.Semaphore
	create   func() (*os.File, error) // a temporary file
	room     room
	files    *intake.Files // bounds the files that callers send
	every    time.Duration // how often a long fetch is logged
}

// Request describes a file to send. FileName is used for documents only.
type Request struct {
	URL      string           `json:"url"`
	Type     bridge.MediaType `json:"type"`
	MimeType string           `json:"mimetype"` // empty to find out
	FileName string           `json:"fileName"`
	Caption  string           `json:"caption"`
	PTT      bool             `json:"ptt"` // a voice note, into which other sounds are converted
	// Convert makes a video of any coding one that the apps play. A file of a format that computers do not
	// open is converted without it.
	Convert bool `json:"convert"`
}

// NewPreparer returns a Preparer. It leaves what an earlier process left in TempDir.
func NewPreparer(o PreparerOptions) *Preparer {
	p := &Preparer{opts: o, decoding: intake.NewSemaphore(intake.Limits{Slots: 1}), files: intake.NewFiles(o.MaxBytes), every: progressEvery}
	p.create = func() (*os.File, error) { return createIn(o.TempDir, "fetched-*") }
	if o.Cache != nil {
		p.room = o.Cache.makeRoom
	}
	return p
}

// Check refuses, without using the network, a request that [Preparer.Prepare] would
// refuse regardless of what the URL leads to. Its errors are those of Prepare.
func (p *Preparer) Check(req Request) error {
	if err := p.CheckReceived(req); err != nil {
		return err
	}
	if err := p.opts.Guard.Check(req.URL); err != nil {
		return fetchFailed(context.Background(), err)
	}
	return nil
}

// Prepare fetches a URL into a temporary file and describes it. The file exists until
// cleanup is called, which is never nil and may be called again; after an error there is
// no file.
//
// Its errors are [bridge.CodeInvalid], [bridge.CodeFetchFailed] with a sentence that
// starts "fetch failed:", [bridge.CodeUnsupportedMedia],
// [bridge.CodeStorageUnavailable], [bridge.CodeTooManyConnections], or that of ctx.
func (p *Preparer) Prepare(ctx context.Context, req Request) (_ bridge.File, cleanup func(), err error) {
	f, err := p.temporary()
	if err != nil {
		return bridge.File{}, func() {}, err
	}
	defer func() {
		if err != nil {
			f.Close()
		}
	}()
	result, err := p.fetch(ctx, req.URL, f.file)
	if err != nil {
		return bridge.File{}, f.Close, err
	}
	prepared, err := p.describe(ctx, req, result, f.file)
	return prepared, f.Close, err
}

// describe returns a file as it is sent; it may convert the file for that.
func (p *Preparer) describe(ctx context.Context, req Request, result urlguard.Result, file *os.File) (bridge.File, error) {
	waveform, err := p.transcode(ctx, &req, &result, file)
	if err != nil {
		return bridge.File{}, err
	}
	f := bridge.File{Type: req.Type, Path: file.Name(), Size: result.Size, Caption: req.Caption, PTT: req.PTT}
	kind, err := decideKind(req, result, file)
	if err != nil {
		return bridge.File{}, err
	}
	f.MimeType = kind.mime
	if req.Type == bridge.MediaDocument {
		f.FileName = documentName(req.FileName, result, kind)
		f.MimeType, _ = bridge.DeclaredType(req.Type, kind.mime)
	}
	if req.Type == bridge.MediaSticker {
		return f, p.sticker(ctx, &f, file, kind)
	}
	if kind.isConverted(req.Type) {
		return f, p.convert(ctx, &f, file, kind.sniffed)
	}
	if ctx.Err() == nil {
		p.measure(ctx, &f, file, kind)
	}
	if waveform != nil {
		f.Waveform = waveform
	} else if f.PTT {
		p.hear(ctx, &f)
	}
	return f, ctx.Err()
}

// fetch downloads the URL into the file, and logs its progress.
func (p *Preparer) fetch(ctx context.Context, url string, file *os.File) (urlguard.Result, error) {
	began := time.Now()
	to := io.MultiWriter(p.room.writer(file), &progress{log: p.opts.Log, what: "fetching media", every: p.every, logged: began})
	result, err := p.opts.Guard.Fetch(ctx, url, p.opts.MaxBytes, to)
	if err != nil {
		return result, fetchFailed(ctx, err)
	}
	p.opts.Log.Info().Int64("bytes", result.Size).Dur("took", time.Since(began)).Msg("media fetched")
	if result.Size == 0 {
		return result, bridge.Fail(bridge.CodeFetchFailed, "fetch failed: the file is empty")
	}
	return result, nil
}

func fetchFailed(ctx context.Context, err error) error {
	refused, ok := errors.AsType[*urlguard.Error](err)
	switch {
	case ok:
		return bridge.Fail(bridge.CodeFetchFailed, "%s", refused.Error()).Because(refused.Unwrap())
	case ctx.Err() != nil:
		return err
	}
	return storageFailed(err)
}

func storageFailed(err error) error {
	return bridge.Fail(bridge.CodeStorageUnavailable, "the file could not be stored: the disk may be full").Because(err)
}

// measure fills in dimensions, duration and thumbnail, as far as they can be
// determined. Its failure does not stop the send, not even a panic over a strange file.
func (p *Preparer) measure(ctx context.Context, f *bridge.File, file *os.File, kind kind) {
	_, err := guarded(file, func(r io.ReadSeeker) (seconds float64, err error) {
		switch {
		case f.Type == bridge.MediaDocument:
		case f.Type == bridge.MediaImage:
			err = p.measureImage(ctx, f, r)
		case kind.movie != nil:
			seconds = kind.movie.seconds
			if f.Type == bridge.MediaVideo {
				f.Width, f.Height = kind.movie.width, kind.movie.height
			}
		case kind.ogg != nil:
			seconds = kind.ogg.seconds()
		case kind.sniffed == "audio/mpeg", kind.mime == "audio/mpeg":
			seconds, err = mp3Seconds(r)
		}
		f.Seconds = wholeSeconds(seconds)
		return seconds, err
	})
	if err != nil {
		p.opts.Log.Debug().Err(err).Str("type", string(f.Type)).Msg("media not measured")
	}
}

// guarded runs a probe from the beginning of the file, and turns a panic into an error.
func guarded[T any](file io.ReadSeeker, probe func(io.ReadSeeker) (T, error)) (result T, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("probe panicked: %v", r)
		}
	}()
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return result, err
	}
	return probe(file)
}

// wholeSeconds rounds a duration as the apps show it: to one second at least.
func wholeSeconds(seconds float64) int {
	const longest = 100 * 24 * 3600       // a longer one is a wrong header
	if seconds > 0 && seconds < longest { // neither is true of NaN
		return max(1, int(seconds+0.5))
	}
	return 0
}
