// Package transcribe has the words of voice notes written down by a service that speaks OpenAI's
// POST /v1/audio/transcriptions.
//
// A [Transcriber] makes the transcripts that the store says are to be made, one at a time: those
// that a caller asked for, then those of the newest messages. The sound leaves the machine for
// the service alone. Nothing of what was said goes to the log.
package transcribe

import (
	"context"
	"errors"
	"io"
	"mime/multipart"
	"net/url"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"

	"bridged/internal/bridge"
	"bridged/internal/media"
	"bridged/internal/store"
)

// Options configures a [Transcriber].
type Options struct {
	URL       *url.URL // the base of the service's addresses
	Key       string   // goes along as a bearer; empty for none
	Model     string   // empty for the service's own
	Languages []string // that are spoken, the most likely first; none for any
	// PerMonth limits the sound that is sent to the service in a month, in UTC; 0 is no limit.
	PerMonth time.Duration

	Store *store.Store
	// OpenFile opens the file of a message, and returns its size.
	OpenFile  func(ctx context.Context, m bridge.Message) (file multipart.File, size int64, err error)
	UserAgent string
	Log       zerolog.Logger
}

// Transcriber makes transcripts.
type Transcriber struct {
	o       Options
	service *service
	results *prometheus.CounterVec

	pause    func(tries int) time.Duration // after a try
	rest     func(failures int) time.Duration
	isClean  bool   // of what is no longer wanted
	failures int    // of the service, since it answered
	toldOf   string // the month of which it was told that its minutes are used up
}

// New returns a Transcriber. It must be run.
func New(o Options) *Transcriber {
	return &Transcriber{
		o: o, service: newService(o), pause: pauseAfter, rest: restAfter,
		results: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "bridged_transcription_tries_total", Help: "Tries to make a transcript: done, failed, or given up for good.",
		}, []string{"result"}),
	}
}

// mostTries limits how often a transcript is tried.
const mostTries = 6

// pauseAfter returns the pause after a try. All of them are 15 hours: long enough for a night.
func pauseAfter(tries int) time.Duration {
	pauses := [mostTries]time.Duration{30 * time.Second, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour, 12 * time.Hour}
	return pauses[min(tries, mostTries)-1]
}

// restAfter returns how long the service is left alone after failures that are not a message's.
func restAfter(failures int) time.Duration {
	return min(15*time.Second<<min(failures-1, 5), 5*time.Minute)
}

// Run makes transcripts until ctx ends.
func (t *Transcriber) Run(ctx context.Context) {
	for ctx.Err() == nil {
		wait, err := t.next(ctx)
		if err != nil && ctx.Err() == nil {
			t.o.Log.Error().Err(err).Msg("transcripts not made; trying again in a minute")
			wait = time.Minute
		}
		if wait > 0 {
			t.await(ctx, wait)
		}
	}
}

// idle is as good as endless: there is a token when there are more transcripts to make.
const idle = time.Hour

// await waits until there are more transcripts to make, at most for a while.
func (t *Transcriber) await(ctx context.Context, most time.Duration) {
	late := time.NewTimer(min(most, idle))
	defer late.Stop()
	select {
	case <-ctx.Done():
	case <-late.C:
	case <-t.o.Store.TranscriptsQueued():
	}
}

// next makes the next transcript, and returns for how long there is none to make; 0 to look again.
func (t *Transcriber) next(ctx context.Context) (wait time.Duration, err error) {
	if !t.isClean {
		if err := t.o.Store.DropUnwantedTranscriptions(ctx); err != nil {
			return 0, err
		}
		t.isClean = true
	}
	if wait, err := t.untilMonth(ctx); wait > 0 || err != nil {
		return wait, err
	}
	job, wait, err := t.o.Store.NextTranscription(ctx, t.pause)
	switch {
	case err != nil:
		return 0, err
	case job == nil && wait == 0:
		return idle, nil
	case job == nil:
		return wait, nil
	}
	m, err := t.o.Store.Message(ctx, job.Chat, job.MsgID)
	if bridge.CodeOf(err) == bridge.CodeNotFound {
		return 0, t.o.Store.DropTranscription(ctx, *job)
	}
	if err != nil {
		return 0, err
	}
	log := t.o.Log.With().Str("msg_id", m.ID).Int("try", job.Tries).Logger()
	if err := t.try(ctx, *job, m, log); err != nil {
		return 0, t.failed(ctx, *job, err, log)
	}
	return 0, nil
}

// untilMonth returns how long it is until the next month, if this one's minutes are used up.
func (t *Transcriber) untilMonth(ctx context.Context) (time.Duration, error) {
	if t.o.PerMonth == 0 {
		return 0, nil
	}
	waiting, used, err := t.o.Store.Transcribed(ctx)
	if err != nil || used < t.o.PerMonth || waiting == 0 {
		return 0, err
	}
	return t.tellUsedUp(), nil
}

// tellUsedUp logs once a month that its minutes are used up, and returns how long it lasts.
func (t *Transcriber) tellUsedUp() time.Duration {
	now := t.o.Store.Clock().Now()
	next := bridge.NextMonth(now)
	if month := now.UTC().Format("2006-01"); t.toldOf != month {
		t.toldOf = month
		t.o.Log.Warn().Time("until", next).Msg("the minutes of this month are used up (TRANSCRIBE_MINUTES): voice notes wait for the next one to be transcribed")
	}
	return next.Sub(now)
}

// try makes a transcript.
func (t *Transcriber) try(ctx context.Context, job store.Transcription, m bridge.Message, log zerolog.Logger) (err error) {
	if err := m.Transcribable(); err != nil { // it was edited since
		return final(err)
	}
	file, size, err := t.o.OpenFile(ctx, m)
	if err != nil {
		return unopened(err)
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	s := sound{io.NewSectionReader(file, 0, size), m.Media.MimeType, lengthOf(file, m)}
	if err := t.count(ctx, s); err != nil {
		return err
	}
	began := time.Now()
	heard, err := t.hear(ctx, s)
	if err != nil {
		return err
	}
	t.failures = 0
	saved, err := t.o.Store.SaveTranscript(ctx, job, bridge.NewTranscript(heard.text, heard.language, t.o.Store.Clock().Now()))
	if err == nil && saved {
		t.results.WithLabelValues("done").Inc()
		log.Info().Dur("length", s.length).Dur("took", time.Since(began)).Msg("voice note transcribed")
	}
	return err
}

// lengthOf measures how long the file of a message plays. What cannot be measured is as long as its
// sender says.
func lengthOf(file io.ReadSeeker, m bridge.Message) time.Duration {
	if length := media.Length(file); length > 0 {
		return length
	}
	return max(time.Duration(m.Media.DurationSec)*time.Second, time.Second)
}

// count counts sound that is about to be sent, within the month's minutes.
func (t *Transcriber) count(ctx context.Context, s sound) error {
	if t.o.PerMonth > 0 && s.length > t.o.PerMonth {
		return final(bridge.Invalid("it is longer than a month's minutes (TRANSCRIBE_MINUTES)"))
	}
	counted, err := t.o.Store.CountTranscribed(ctx, s.length, t.o.PerMonth)
	if err == nil && !counted {
		err = &failure{sentence: "it is longer than what is left of this month's minutes", notMade: true, after: t.tellUsedUp()}
	}
	return err
}

// hear has the service write the words down. Short notes are often taken for a language that nobody
// speaks: then it is told to hear the most likely one.
func (t *Transcriber) hear(ctx context.Context, s sound) (heard, error) {
	hint := ""
	if len(t.o.Languages) == 1 {
		hint = t.o.Languages[0]
	}
	first, err := t.service.transcribe(ctx, s, hint)
	if err != nil || len(t.o.Languages) < 2 || first.isIn(t.o.Languages) {
		return first, err
	}
	var over *failure
	if err := t.count(ctx, s); errors.As(err, &over) {
		return first, nil
	} else if err != nil {
		return heard{}, err
	}
	return t.service.transcribe(ctx, s, t.o.Languages[0])
}

// failed notes a try that failed.
func (t *Transcriber) failed(ctx context.Context, job store.Transcription, err error, log zerolog.Logger) error {
	s := t.o.Store
	if ctx.Err() != nil { // the program stops: the next one begins with it
		return s.PostponeTranscription(context.WithoutCancel(ctx), job, s.Clock().Now(), false)
	}
	var f *failure
	if !errors.As(err, &f) { // of the store
		return err
	}
	if f.isFinal || !f.notMade && job.Tries >= mostTries {
		t.results.WithLabelValues("given_up").Inc()
		log.Warn().Str("failure", f.sentence).Msg("voice note not transcribed, and not tried again")
		return s.DropTranscription(ctx, job)
	}
	if f.notMade {
		return s.PostponeTranscription(ctx, job, s.Clock().Now().Add(f.after), false)
	}
	t.results.WithLabelValues("failed").Inc()
	log.Warn().Str("failure", f.sentence).Msg("voice note not transcribed yet")
	if err := s.PostponeTranscription(ctx, job, s.Clock().Now().Add(f.after), true); err != nil {
		return err
	}
	if f.isService {
		t.failures++
		bridge.Sleep(ctx, max(f.after, t.rest(t.failures)))
	}
	return nil
}

// failure is why a try failed, in a sentence for the operator, without what was said.
type failure struct {
	sentence  string
	isService bool          // it would fail with any message
	isFinal   bool          // it would fail again
	notMade   bool          // nothing was tried
	after     time.Duration // before which it is not tried again
}

// Error returns the sentence.
func (f *failure) Error() string { return f.sentence }

// final returns the failure of a message that can never be transcribed.
func final(err error) error { return &failure{sentence: err.Error(), isFinal: true} }

// unopened returns the failure of a file that could not be opened.
func unopened(err error) error {
	switch bridge.CodeOf(err) {
	case bridge.CodeNotFound, bridge.CodeMediaGone, bridge.CodeMediaTooLarge, bridge.CodeMediaInvalid:
		return final(err)
	case bridge.CodeNotConnected:
		return &failure{sentence: err.Error(), notMade: true, after: time.Minute}
	}
	return &failure{sentence: "its file could not be had: " + bridge.Redact(err.Error())}
}
