// Package transcribe transcribes voice notes with a service that speaks OpenAI's POST
// /v1/audio/transcriptions.
//
// A [Transcriber] makes the transcripts that the store lists, one at a time: first the requested
// ones, then those of the newest messages. The audio is sent only to the service. The log
// contains nothing of the transcripts.
package transcribe

import (
	"cmp"
	"context"
	"errors"
	"io"
	"mime/multipart"
	"net/url"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"

	"bridged/internal/bridge"
	"bridged/internal/media/probe"
	"bridged/internal/store"
	"bridged/internal/store/settings"
)

// Options configures a [Transcriber].
type Options struct {
	URL      *url.URL // base of the service's URLs
	Key      string   // sent as a bearer token; "" if none
	Model    string   // "" for the service's default
	Language string   // ISO 639 code of the spoken language; "" for any
	// PerMonth limits the audio that is sent to the service in a month (UTC); 0 means no limit.
	PerMonth time.Duration

	Store *store.Store
	// OpenFile opens the file of a message and returns its size in bytes.
	OpenFile  func(ctx context.Context, m bridge.Message) (file multipart.File, size int64, err error)
	UserAgent string
	Log       zerolog.Logger
}

// Transcriber makes transcripts.
type Transcriber struct {
	o       Options
	service *service
	results *prometheus.CounterVec

	pause       func(tries int) time.Duration // after an attempt
	rest        func(failures int) time.Duration
	reviewed    bool   // the leftovers of the last run were handled
	failures    int    // consecutive failures of the service with different messages
	failedLast  string // the message that the service failed with last
	warnedMonth string // the month for which a warning about its used-up minutes was logged
}

// New returns a Transcriber. Call [Transcriber.Run].
func New(o Options) *Transcriber {
	return &Transcriber{
		o: o, service: newService(o), pause: pauseAfter, rest: restAfter,
		results: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "bridged_transcription_tries_total", Help: "Attempts to make a transcript: done, failed, or given up.",
		}, []string{"result"}),
	}
}

// mostTries limits the attempts of a transcript.
const mostTries = 6

// pauseAfter returns the pause after an attempt. Together they last 15 hours, longer than a
// night.
func pauseAfter(tries int) time.Duration {
	pauses := [mostTries]time.Duration{30 * time.Second, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour, 12 * time.Hour}
	return pauses[min(tries, mostTries)-1]
}

// restAfter returns the pause after failures that are not the fault of a message.
func restAfter(failures int) time.Duration {
	return min(15*time.Second<<min(failures-1, 5), 5*time.Minute)
}

// Run makes transcripts until ctx ends.
func (t *Transcriber) Run(ctx context.Context) {
	for ctx.Err() == nil {
		wait, err := t.next(ctx)
		if err != nil && ctx.Err() == nil {
			t.o.Log.Error().Err(err).Msg("cannot make transcripts; trying again in a minute")
			wait = time.Minute
		}
		if wait > 0 {
			t.await(ctx, wait)
		}
	}
}

// idle is how long Run waits at most. A notification ends the wait when there is more to
// transcribe.
const idle = time.Hour

// await waits until there is more to transcribe, but no longer than most.
func (t *Transcriber) await(ctx context.Context, most time.Duration) {
	late := time.NewTimer(min(most, idle))
	defer late.Stop()
	select {
	case <-ctx.Done():
	case <-late.C:
	case <-t.o.Store.TranscriptsQueued():
	}
}

// next makes the next transcript. It returns how long to wait if there is none to make now, and 0
// to look again at once.
func (t *Transcriber) next(ctx context.Context) (wait time.Duration, err error) {
	if !t.reviewed {
		if err := t.o.Store.ReviewTranscriptions(ctx); err != nil {
			return 0, err
		}
		t.reviewed = true
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
	case job.Tries > mostTries: // the program was killed during the last attempt
		return 0, t.giveUp(ctx, *job, "the bridge was killed during the last attempt", t.o.Log.With().Str("msg_id", job.MsgID).Logger())
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

// untilMonth returns the time until the next month if this month's minutes are used up, and 0
// otherwise.
func (t *Transcriber) untilMonth(ctx context.Context) (time.Duration, error) {
	if t.o.PerMonth == 0 {
		return 0, nil
	}
	work, err := t.o.Store.Transcribed(ctx)
	if err != nil || work.Used < t.o.PerMonth || work.Waiting == 0 {
		return 0, err
	}
	now := t.o.Store.Clock().Now()
	next := bridge.NextMonth(now)
	if month := now.UTC().Format("2006-01"); t.warnedMonth != month {
		t.warnedMonth = month
		t.o.Log.Warn().Time("until", next).Msg("this month's minutes are used up (TRANSCRIBE_MINUTES): voice notes are transcribed next month")
	}
	return next.Sub(now), nil
}

// try makes one attempt at a transcript.
func (t *Transcriber) try(ctx context.Context, job settings.Transcription, m bridge.Message, log zerolog.Logger) (err error) {
	if err := m.Transcribable(); err != nil { // it may have been edited in the meantime
		return final(err)
	}
	if limits := t.limits(job); limits.Chat > 0 && job.Used >= limits.Chat {
		return nextMonth("its chat has used its half of this month's minutes (TRANSCRIBE_MINUTES)")
	}
	file, size, err := t.o.OpenFile(ctx, m)
	if err != nil {
		return unopened(err)
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	s := recording{io.NewSectionReader(file, 0, size), m.Media.MimeType, probe.LengthOf(file, m)}
	if err := t.count(ctx, job, s); err != nil {
		return err
	}
	began := time.Now()
	heard, err := t.service.transcribe(ctx, s)
	if err != nil {
		return cmp.Or(t.uncount(ctx, job, s, err), forLong(err, s.length, job.Tries))
	}
	t.failures, t.failedLast = 0, ""
	saved, err := t.o.Store.SaveTranscript(ctx, job, bridge.NewTranscript(heard.text, heard.language, t.o.Store.Clock().Now()))
	if err == nil && saved {
		t.results.WithLabelValues("done").Inc()
		log.Info().Dur("length", s.length).Dur("took", time.Since(began)).Msg("voice note transcribed")
	}
	return err
}

// Long notes have separate limits, so that a few of them neither use up the month's minutes nor
// occupy the service for a day.
const (
	longest    = 2 * time.Hour   // longest note that is transcribed
	longNote   = bridge.LongNote // longest note that may use all of the month's minutes
	longQuota  = 4               // longer notes may use a quarter of the month's minutes
	triesOfOne = 2               // attempts for a long note if the service takes too long
)

// forLong returns the failure of an attempt. If the service takes too long for a long note, that
// does not count against the service, and the note gets fewer attempts.
func forLong(err error, length time.Duration, tries int) error {
	var f *failure
	if errors.As(err, &f) && f.isSlow && length > longNote {
		f.isService, f.isFinal = false, tries >= triesOfOne
	}
	return err
}

// uncount subtracts the minutes of an attempt that costs nothing.
func (t *Transcriber) uncount(ctx context.Context, job settings.Transcription, s recording, why error) error {
	var f *failure
	if !errors.As(why, &f) || !f.isFree {
		return nil
	}
	_, err := t.o.Store.CountTranscribed(context.WithoutCancel(ctx), job.Chat, -s.length, settings.Minutes{})
	return err
}

// count adds the length of audio that is about to be sent to the month's minutes.
func (t *Transcriber) count(ctx context.Context, job settings.Transcription, s recording) error {
	switch month := t.o.PerMonth; {
	case s.length > longest:
		return final(bridge.Invalid("it is longer than %v", longest))
	case month > 0 && s.length > month:
		return final(bridge.Invalid("it is longer than a month's minutes (TRANSCRIBE_MINUTES)"))
	case month > 0 && s.length > max(month/longQuota, longNote):
		return final(bridge.Invalid("it is longer than a quarter of a month's minutes (TRANSCRIBE_MINUTES)"))
	}
	counted, err := t.o.Store.CountTranscribed(ctx, job.Chat, s.length, t.limits(job))
	if err == nil && !counted {
		err = nextMonth("it is longer than what is left of this month's minutes (TRANSCRIBE_MINUTES), or of its chat's half")
	}
	return err
}

// limits returns how much audio may be transcribed in a month.
func (t *Transcriber) limits(job settings.Transcription) settings.Minutes {
	limits := settings.Minutes{All: t.o.PerMonth}
	if !job.Whole {
		limits.Chat = bridge.ChatMinutes(t.o.PerMonth)
	}
	return limits
}

// failed records a failed attempt.
func (t *Transcriber) failed(ctx context.Context, job settings.Transcription, err error, log zerolog.Logger) error {
	s := t.o.Store
	if ctx.Err() != nil { // the program stops; its next run starts with this note
		return s.PostponeTranscription(context.WithoutCancel(ctx), job, s.Clock().Now(), false)
	}
	var f *failure
	if !errors.As(err, &f) { // an error of the store
		return err
	}
	if f.isFinal || !f.notMade && job.Tries >= mostTries {
		return t.giveUp(ctx, job, f.sentence, log)
	}
	if f.notMade {
		until := s.Clock().Now().Add(f.after)
		if f.nextMonth {
			until = bridge.NextMonth(s.Clock().Now())
			log.Warn().Time("until", until).Msg("a voice note is not transcribed this month: " + f.sentence)
		}
		return s.PostponeTranscription(ctx, job, until, false)
	}
	t.results.WithLabelValues("failed").Inc()
	log.Warn().Str("failure", f.sentence).Msg("cannot transcribe a voice note yet")
	if err := s.PostponeTranscription(ctx, job, s.Clock().Now().Add(f.after), true); err != nil {
		return err
	}
	if f.isService {
		if t.failures == 0 || t.failedLast != job.MsgID { // repeated failures of one message say less about the service
			t.failures++
		}
		t.failedLast = job.MsgID
		bridge.Sleep(ctx, max(f.after, t.rest(t.failures)))
	}
	return nil
}

// giveUp ends the attempts for a note.
func (t *Transcriber) giveUp(ctx context.Context, job settings.Transcription, why string, log zerolog.Logger) error {
	t.results.WithLabelValues("given_up").Inc()
	log.Warn().Str("failure", why).Msg("giving up on transcribing a voice note")
	return t.o.Store.DropTranscription(ctx, job)
}

// failure is the reason of a failed attempt: a sentence for the operator, which contains nothing
// of the transcript.
type failure struct {
	sentence  string
	isService bool          // the service fails, with any message
	isFinal   bool          // another attempt would fail, too
	notMade   bool          // no attempt was made
	isFree    bool          // the audio was not sent, or the service has refused it
	isSlow    bool          // the service took too long
	nextMonth bool          // not tried again before the next month
	after     time.Duration // not tried again before this pause is over
}

// Error returns the sentence.
func (f *failure) Error() string { return f.sentence }

// nextMonth returns the failure of a message that is not tried again this month.
func nextMonth(sentence string) error {
	return &failure{sentence: sentence, notMade: true, nextMonth: true}
}

// final returns the failure of a message that can never be transcribed.
func final(err error) error { return &failure{sentence: err.Error(), isFinal: true} }

// unopened returns the failure of a file that cannot be opened.
func unopened(err error) error {
	switch bridge.CodeOf(err) {
	case bridge.CodeNotFound, bridge.CodeMediaGone, bridge.CodeMediaTooLarge, bridge.CodeMediaInvalid:
		return final(err)
	case bridge.CodeNotConnected:
		return &failure{sentence: err.Error(), notMade: true, after: time.Minute}
	}
	return &failure{sentence: "its file could not be downloaded: " + bridge.Redact(err.Error())}
}
