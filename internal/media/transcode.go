package media

import (
	"cmp"
	"context"
	"io"
	"os"
	"strings"
	"time"

	"bridged/internal/bridge"
	"bridged/internal/urlguard"
)

// hearTime is how long the waveform of a voice note that needs no converting may take.
const hearTime = 10 * time.Second

// transcode makes a voice note of any sound, and a video that the apps play of any other, in the
// same file, where that is asked for and needed. What it makes is of a known type, whatever the
// caller and the server say. The waveform is nil where it made no voice note.
func (p *Preparer) transcode(ctx context.Context, req *Request, result *urlguard.Result, file *os.File) (waveform []byte, err error) {
	if !req.PTT && !req.Convert {
		return nil, nil
	}
	k, err := sniff(file)
	if err != nil {
		return nil, storageFailed(err)
	}
	isReady := k.ogg != nil && k.ogg.isOpus
	if req.Convert {
		isReady = k.sniffed == "video/mp4" && k.movie != nil && k.movie.plays()
	}
	switch {
	case !k.mayBecome(req.Type), req.PTT && p.opts.Converter == nil:
		return nil, nil // decideKind says what it is, and is not
	case isReady:
		req.MimeType, result.ContentType = "", ""
		return nil, nil
	case p.opts.Converter == nil:
		return nil, bridge.Fail(bridge.CodeUnsupportedMedia, "the bridge finds no ffmpeg to convert the video: %s, or send MP4 with H.264 and AAC", installFFmpeg)
	}
	if err := k.mayConvert(file); err != nil {
		return nil, err
	}
	out, err := p.temporary()
	if err != nil {
		return nil, err
	}
	defer out.Close()
	began := time.Now()
	err = p.room.retry(result.Size, func() (err error) {
		if req.PTT {
			waveform, err = p.opts.Converter.Voice(ctx, file.Name(), out.file.Name())
		} else {
			err = p.opts.Converter.Film(ctx, file.Name(), out.file.Name())
		}
		if bridge.CodeOf(err) == bridge.CodeUnsupportedMedia {
			return cmp.Or(noRoomBehind(out.file), err)
		}
		return err
	})
	if isFull(err) {
		return nil, storageFailed(err)
	}
	if err != nil {
		return nil, err
	}
	result.Size, err = p.overwrite(file, func(w io.Writer) error { _, err := io.Copy(w, out.file); return err })
	if err != nil {
		return nil, storageFailed(err)
	}
	p.opts.Log.Info().Str("from", k.sniffed).Int64("bytes", result.Size).Dur("took", time.Since(began)).Msg("media converted")
	req.MimeType, result.ContentType = "", ""
	return waveform, nil
}

// noRoomBehind returns the error of a disk that has no room behind a file, which ffmpeg does not tell
// from other faults; nil if there is some.
func noRoomBehind(file *os.File) error {
	const most = 64 << 10
	info, err := file.Stat()
	if err == nil {
		_, err = file.WriteAt(make([]byte, most), info.Size())
	}
	if isFull(err) {
		return err
	}
	return nil
}

const installFFmpeg = "install ffmpeg where it runs, or name it in FFMPEG"

// mayBecome reports whether ffmpeg may find a sound in a file, or a film. Some formats have no
// signature.
func (k kind) mayBecome(t bridge.MediaType) bool {
	major, _, _ := strings.Cut(k.sniffed, "/")
	switch {
	case k.movie != nil:
		return t == bridge.MediaAudio || k.movie.hasVideo
	case k.sniffed == "application/ogg", k.sniffed == unknownType:
		return true
	}
	return major == "video" || major == "audio" && t == bridge.MediaAudio
}

// hear measures the waveform of a voice note that is sent as it is. Without ffmpeg, or where it
// fails, that which was guessed stays.
func (p *Preparer) hear(ctx context.Context, f *bridge.File) {
	if p.opts.Converter == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, hearTime)
	defer cancel()
	waveform, err := p.opts.Converter.Waveform(ctx, f.Path)
	if err != nil {
		p.opts.Log.Debug().Err(err).Msg("waveform not measured")
		return
	}
	f.Waveform = waveform
}
