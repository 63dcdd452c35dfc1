// Package media prepares files to be sent. A [Preparer] fetches or receives a file, recognises its
// format, converts it if the apps would not show it, measures it and returns a [bridge.File]. A
// measurement that fails leaves its field empty.
package media

import (
	"context"
	"errors"
	"io"
	"os"
	"time"

	"github.com/rs/zerolog"

	"bridged/internal/bridge"
	"bridged/internal/intake"
	"bridged/internal/media/disk"
	"bridged/internal/media/probe"
	"bridged/internal/transcode"
	"bridged/internal/urlguard"
)

// ConvertTimeout bounds the converting of a file.
const ConvertTimeout = transcode.MaxTimeout

// PreparerOptions configures a [Preparer].
type PreparerOptions struct {
	Guard    *urlguard.Guard
	TempDir  string    // created if it does not exist, but none above it
	MaxBytes int64     // of a fetched file
	Setting  string    // sets MaxBytes, for errors; empty for MEDIA_MAX_BYTES
	Room     disk.Room // frees space when the disk is full; may be nil
	// Converter converts audio and video; nil without ffmpeg.
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
	files    *intake.Files            // bounds the files that callers send
	every    time.Duration            // how often a long fetch is logged
}

// Request describes a file to send. FileName is used for documents only.
type Request struct {
	URL      string           `json:"url"`
	Type     bridge.MediaType `json:"type"`
	MimeType string           `json:"mimetype"` // empty to find out
	FileName string           `json:"fileName"`
	Caption  string           `json:"caption"`
	PTT      bool             `json:"ptt"` // a voice note, into which other audio is converted
	// Convert makes a video of any coding one that the apps play. A file of a format that computers do not
	// open is converted without it.
	Convert bool `json:"convert"`
	// GIF lets the apps repeat a video, without its sound. An animated GIF becomes such a video.
	GIF bool `json:"gif,omitempty"`
	// ViewOnce lets the apps show an image, a video or a voice note once.
	ViewOnce bool `json:"viewOnce,omitempty"`
}

// NewPreparer returns a Preparer. It does not remove files of earlier runs in TempDir.
func NewPreparer(o PreparerOptions) *Preparer {
	p := &Preparer{opts: o, decoding: intake.NewSemaphore(intake.Limits{Slots: 1}), files: intake.NewFiles(o.MaxBytes), every: disk.ProgressEvery}
	p.create = func() (*os.File, error) { return disk.CreateIn(o.TempDir, "fetched-*") }
	return p
}

// Check refuses, without using the network, a request that [Preparer.Prepare] would refuse with any
// file. It returns the same errors as Prepare.
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
// [bridge.CodeStorageUnavailable], [bridge.CodeTooManyConnections], or the error of ctx.
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
	f := bridge.File{Type: req.Type, Path: file.Name(), Size: result.Size, Caption: req.Caption, PTT: req.PTT, GIF: req.GIF, ViewOnce: req.ViewOnce}
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
		return f, p.convert(ctx, &f, file, kind.MIMEType)
	}
	if ctx.Err() == nil {
		p.measure(ctx, &f, file, kind)
	}
	if waveform != nil {
		f.Waveform = waveform
	} else if f.PTT {
		p.measureWaveform(ctx, &f)
	}
	return f, ctx.Err()
}

// fetch downloads the URL into the file, and logs its progress.
func (p *Preparer) fetch(ctx context.Context, url string, file *os.File) (urlguard.Result, error) {
	began := time.Now()
	to := io.MultiWriter(p.opts.Room.Writer(file), disk.NewProgress(p.opts.Log, "fetching media", p.every))
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
	return disk.Failed(err)
}

// measure fills in dimensions, duration and thumbnail, as far as they can be determined. If it fails or
// panics over an unusual file, the file is sent without them.
func (p *Preparer) measure(ctx context.Context, f *bridge.File, file *os.File, k kind) {
	switch f.Type {
	case bridge.MediaDocument:
		return
	case bridge.MediaImage:
		_, err := probe.Guarded(file, func(r io.ReadSeeker) (struct{}, error) { return struct{}{}, p.measureImage(ctx, f, r) })
		if err != nil {
			p.opts.Log.Debug().Err(err).Msg("cannot measure a picture")
		}
		return
	case bridge.MediaVideo:
		if k.Movie != nil {
			f.Width, f.Height = k.Movie.Width, k.Movie.Height
		}
		p.makeThumbnail(ctx, f)
	}
	if f.Seconds = probe.WholeSeconds(k.Seconds(file)); f.Seconds == 0 && f.Type == bridge.MediaAudio {
		p.measureLength(ctx, f)
	}
}
