package media

import (
	"cmp"
	"context"
	"io"
	"os"
	"strings"
	"time"

	"bridged/internal/bridge"
	"bridged/internal/media/disk"
	"bridged/internal/media/probe"
	"bridged/internal/transcode"
	"bridged/internal/urlguard"
)

// measureTimeout limits measuring an audio file that is not converted.
const measureTimeout = 10 * time.Second

// conversion writes a converted file. The waveform is nil if it makes no voice note.
type conversion func(ctx context.Context, from, to string) (waveform []byte, err error)

// transcode converts a file in its place: into a voice note or a video that the apps play, if the caller asks
// for that, and if computers do not open its format. The result's type is known, whatever the caller and the
// server say.
func (p *Preparer) transcode(ctx context.Context, req *Request, result *urlguard.Result, file *os.File) (waveform []byte, err error) {
	if req.Type == bridge.MediaDocument || req.Type == bridge.MediaSticker {
		return nil, nil
	}
	k, err := sniffKind(file)
	if err != nil {
		return nil, disk.Failed(err)
	}
	if k.isMovingGIF(file) && req.Type != bridge.MediaAudio {
		req.Type, req.GIF = bridge.MediaVideo, true
	}
	if req.Type == bridge.MediaImage {
		return nil, nil
	}
	convert, err := p.conversion(req, result, k, file)
	if convert == nil || err != nil {
		return nil, err
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
	err = p.opts.Room.Retry(result.Size, func() (err error) {
		waveform, err = convert(ctx, file.Name(), out.file.Name())
		if bridge.CodeOf(err) == bridge.CodeUnsupportedMedia {
			return cmp.Or(noSpaceAfter(out.file), err)
		}
		return err
	})
	if disk.IsFull(err) {
		return nil, disk.Failed(err)
	}
	if err != nil {
		return nil, err
	}
	result.Size, err = p.overwrite(file, func(w io.Writer) error { _, err := io.Copy(w, out.file); return err })
	if err != nil {
		return nil, disk.Failed(err)
	}
	p.opts.Log.Info().Str("from", k.MIMEType).Int64("bytes", result.Size).Dur("took", time.Since(began)).Msg("media converted")
	req.MimeType, result.ContentType = "", ""
	return waveform, nil
}

// conversion returns how a file is converted; nil if it is sent as it is, or refused by [decideKind].
func (p *Preparer) conversion(req *Request, result *urlguard.Result, k kind, file io.ReadSeeker) (conversion, error) {
	isReady := k.Ogg != nil && k.Ogg.IsOpus
	if req.Convert {
		isReady = k.MIMEType == "video/mp4" && k.Movie != nil && k.Movie.Plays()
	}
	isAsked := req.PTT || req.Convert
	switch {
	case k.MIMEType == gifType && req.GIF:
		return p.fromGIF()
	case !k.mayBecome(req.Type), req.PTT && p.opts.Converter == nil:
		return nil, nil
	case isAsked && isReady:
		req.MimeType, result.ContentType = "", ""
		return nil, nil
	case !isAsked && (p.opts.Converter == nil || k.isOpened(*req, *result, file)):
		return nil, nil
	case p.opts.Converter == nil:
		return nil, bridge.Fail(bridge.CodeUnsupportedMedia, "the bridge finds no ffmpeg to convert the video: %s, or send MP4 with H.264 and AAC", installFFmpeg)
	case req.PTT:
		return p.opts.Converter.Voice, nil
	case req.Type == bridge.MediaVideo:
		return p.intoVideo(k), nil
	}
	return p.intoAudio(k), nil
}

const gifType = "image/gif"

// isMovingGIF reports whether a file is an animated GIF, which the apps show as a video.
func (k kind) isMovingGIF(file io.ReadSeeker) bool {
	return k.MIMEType == gifType && probe.IsAnimated(file, k.MIMEType)
}

// fromGIF makes a video of an animated GIF.
func (p *Preparer) fromGIF() (conversion, error) {
	if p.opts.Converter == nil {
		return nil, bridge.Fail(bridge.CodeUnsupportedMedia, "the file is an animated GIF, which the apps show as a video only: send it as a document, or %s", installFFmpeg)
	}
	return func(ctx context.Context, from, to string) ([]byte, error) {
		return nil, p.opts.Converter.GIF(ctx, from, to)
	}, nil
}

// isOpened reports whether computers open a file as it is, as the kind of media that its bytes are. It is
// true for bytes of another kind, which are not converted.
func (k kind) isOpened(req Request, result urlguard.Result, file io.ReadSeeker) bool {
	given, err := givenType(req)
	actual := k.actual(req.Type, cmp.Or(given, serverType(result.ContentType)), file)
	if err != nil || actual == "" {
		return true
	}
	_, isOpened := bridge.DeclaredType(req.Type, actual)
	return isOpened
}

// intoVideo makes a video that the apps play. What only needs another container is copied into it.
func (p *Preparer) intoVideo(k kind) conversion {
	return func(ctx context.Context, from, to string) ([]byte, error) {
		if k.Movie != nil && k.Movie.Plays() {
			err := p.opts.Converter.Remux(ctx, from, to, transcode.MP4)
			if bridge.CodeOf(err) != bridge.CodeUnsupportedMedia {
				return nil, err
			}
		}
		return nil, p.opts.Converter.Video(ctx, from, to)
	}
}

// intoAudio makes an audio file that computers open.
func (p *Preparer) intoAudio(k kind) conversion {
	return func(ctx context.Context, from, to string) ([]byte, error) {
		for coding, container := range map[string]transcode.Container{probe.CodingAAC: transcode.M4A, probe.CodingOpus: transcode.Ogg} {
			if k.Movie != nil && k.Movie.IsAudioOf(coding) {
				err := p.opts.Converter.Remux(ctx, from, to, container)
				if bridge.CodeOf(err) != bridge.CodeUnsupportedMedia {
					return nil, err
				}
			}
		}
		return nil, p.opts.Converter.Audio(ctx, from, to)
	}
}

// noSpaceAfter returns the error of a full disk if nothing can be appended to a file: ffmpeg does not
// distinguish that from other errors.
func noSpaceAfter(file *os.File) error {
	const most = 64 << 10
	info, err := file.Stat()
	if err == nil {
		_, err = file.WriteAt(make([]byte, most), info.Size())
	}
	if disk.IsFull(err) {
		return err
	}
	return nil
}

const installFFmpeg = "install ffmpeg where the bridge runs, or name it in FFMPEG"

// mayBecome reports whether ffmpeg may find audio or video in a file. Some formats have no
// signature.
func (k kind) mayBecome(t bridge.MediaType) bool {
	major, _, _ := strings.Cut(k.MIMEType, "/")
	switch {
	case k.Movie != nil:
		return t == bridge.MediaAudio || k.Movie.HasVideo
	case k.MIMEType == "application/ogg", k.MIMEType == bridge.UnknownMIMEType:
		return true
	}
	return major == "video" || major == "audio" && t == bridge.MediaAudio
}

// measureWaveform measures the waveform of a voice note that is sent as it is. It is flat without ffmpeg, or
// if ffmpeg fails.
func (p *Preparer) measureWaveform(ctx context.Context, f *bridge.File) {
	f.Waveform = transcode.Flat()
	if p.opts.Converter == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, measureTimeout)
	defer cancel()
	waveform, err := p.opts.Converter.Waveform(ctx, f.Path)
	if err != nil {
		p.opts.Log.Debug().Err(err).Msg("cannot measure a waveform")
		return
	}
	f.Waveform = waveform
}

// makeThumbnail makes the thumbnail of a video, if there is ffmpeg. A view-once video gets none.
func (p *Preparer) makeThumbnail(ctx context.Context, f *bridge.File) {
	if p.opts.Converter == nil || f.ViewOnce {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, transcode.StillTimeout)
	defer cancel()
	still, err := p.opts.Converter.Still(ctx, f.Path, thumbnailSide)
	if err != nil {
		p.opts.Log.Debug().Err(err).Msg("cannot make a still of a video")
		return
	}
	f.Thumbnail = still
}

// measureLength measures an audio file whose header does not say how long it plays (AAC, AMR), if there is ffmpeg.
func (p *Preparer) measureLength(ctx context.Context, f *bridge.File) {
	if p.opts.Converter == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, measureTimeout)
	defer cancel()
	length, err := p.opts.Converter.Length(ctx, f.Path)
	if err != nil {
		p.opts.Log.Debug().Err(err).Msg("cannot measure an audio file")
		return
	}
	f.Seconds = probe.WholeSeconds(length.Seconds())
}

// maxConverted limits the pixels of a video that is converted: 4096 by 2304, more than 4K.
const maxConverted = 4096 * 2304

// mayConvert refuses a file that plays for too long or is too large to be converted, as far as
// its head says.
func (k kind) mayConvert(file io.ReadSeeker) error {
	seconds := k.Seconds(file)
	if seconds > transcode.MaxLength.Seconds() {
		return bridge.Fail(bridge.CodeUnsupportedMedia, "the file plays for %v, and at most %v can be converted: send a shorter one",
			time.Duration(min(seconds, 1e9))*time.Second, transcode.MaxLength)
	}
	width, height := 0, 0
	if m := k.Movie; m != nil && m.HasVideo {
		width, height = m.Width, m.Height
	} else if k.MIMEType == gifType {
		width, height = probe.GIFSize(file)
	}
	if float64(width)*float64(height) > maxConverted {
		return bridge.Fail(bridge.CodeUnsupportedMedia, "the video has %d by %d pixels, too many to convert: scale it to at most 4096 by 2304", width, height)
	}
	return nil
}
