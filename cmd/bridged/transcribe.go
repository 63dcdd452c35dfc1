package main

import (
	"context"
	"mime/multipart"
	"time"

	"bridged/internal/bridge"
	"bridged/internal/config"
	"bridged/internal/transcribe"
)

// newTranscriber returns the transcriber of voice notes, or nil without TRANSCRIBE_URL.
func (a *app) newTranscriber(c config.Config) *transcribe.Transcriber {
	if c.Transcriber == nil {
		return nil
	}
	return transcribe.New(transcribe.Options{
		URL: c.Transcriber, Key: c.TranscribeKey, Model: c.TranscribeModel, Language: c.Language, PerMonth: time.Duration(c.TranscribeMinutes) * time.Minute,
		Store: a.store, OpenFile: a.openAudio, UserAgent: userAgent(), Log: a.log,
	})
}

func (a *app) openAudio(ctx context.Context, m bridge.Message) (multipart.File, int64, error) {
	file, err := a.files.Open(ctx, m)
	if err != nil {
		return nil, 0, err
	}
	return file, file.Size, nil
}

// transcription returns the settings of transcription that the API shows, or nil without TRANSCRIBE_URL.
func transcription(c config.Config) *bridge.Transcription {
	if c.Transcriber == nil {
		return nil
	}
	t := &bridge.Transcription{Mode: bridge.TranscribeMode(c.Transcribe)}
	if c.TranscribeMinutes > 0 {
		t.SecondsLimit = new(60 * c.TranscribeMinutes)
	}
	return t
}
