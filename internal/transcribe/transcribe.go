// Package transcribe has the words of voice notes written down by a service that speaks OpenAI's
// POST /v1/audio/transcriptions.
//
// A [Transcriber] makes the transcripts that the store says are to be made, one at a time: those
// that a caller asked for, then those of the newest messages. The sound leaves the machine for
// the service alone. Nothing of what was said goes to the log.
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

	pause      func(tries int) time.Duration // after a try
	rest       func(failures int) time.Duration
	reviewed   bool   // what the last run left
	failures   int    // of the service with different messages, since it answered
	failedLast string // the message that the service failed with last
	toldOf     string // the month of which it was told that its minutes are used up
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
	case job.Tries > mostTries: // the program was killed in the middle of the last one
		return 0, t.giveUp(ctx, *job, "the bridge was killed during the last try", t.o.Log.With().Str("msg_id", job.MsgID).Logger())
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
	work, err := t.o.Store.Transcribed(ctx)
	if err != nil || work.Used < t.o.PerMonth || work.Waiting == 0 {
		return 0, err
	}
	now := t.o.Store.Clock().Now()
	next := bridge.NextMonth(now)
	if month := now.UTC().Format("2006-01"); t.toldOf != month {
		t.toldOf = month
		t.o.Log.Warn().Time("until", next).Msg("the minutes of this month are used up (TRANSCRIBE_MINUTES): voice notes wait for the next one to be transcribed")
	}
	return next.Sub(now), nil
}

// try makes a transcript.
func (t *Transcriber) try(ctx context.Context, job store.Transcription, m bridge.Message, log zerolog.Logger) (err error) {
	if err := m.Transcribable(); err != nil { // it was edited since
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
	s := sound{io.NewSectionReader(file, 0, size), m.Media.MimeType, media.LengthOf(file, m)}
	if err := t.count(ctx, job, s); err != nil {
		return err
	}
	began := time.Now()
	heard, err := t.hear(ctx, job, s, log)
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

// Long notes have limits of their own, so that a few of them neither use up the month nor occupy
// the service for a day.
const (
	longest    = 2 * time.Hour   // that is transcribed
	longNote   = bridge.LongNote // that every month's minutes may be used for
	longShare  = 4               // a longer note takes at most one part in so many of the month
	triesOfOne = 2               // of a long note, if the service takes too long
)

// forLong returns the failure of a try. That the service takes too long for a long note says nothing
// of others, and the note has fewer tries.
func forLong(err error, length time.Duration, tries int) error {
	var f *failure
	if errors.As(err, &f) && f.isSlow && length > longNote {
		f.isService, f.isFinal = false, tries >= triesOfOne
	}
	return err
}

// uncount takes back what was counted for a try that costs nothing.
func (t *Transcriber) uncount(ctx context.Context, job store.Transcription, s sound, why error) error {
	var f *failure
	if !errors.As(why, &f) || !f.isFree {
		return nil
	}
	_, err := t.o.Store.CountTranscribed(context.WithoutCancel(ctx), job.Chat, -s.length, store.Minutes{})
	return err
}

// count counts sound that is about to be sent, within the month's minutes.
func (t *Transcriber) count(ctx context.Context, job store.Transcription, s sound) error {
	switch month := t.o.PerMonth; {
	case s.length > longest:
		return final(bridge.Invalid("it is longer than %v", longest))
	case month > 0 && s.length > month:
		return final(bridge.Invalid("it is longer than a month's minutes (TRANSCRIBE_MINUTES)"))
	case month > 0 && s.length > max(month/longShare, longNote):
		return final(bridge.Invalid("it is longer than a quarter of a month's minutes (TRANSCRIBE_MINUTES)"))
	}
	counted, err := t.o.Store.CountTranscribed(ctx, job.Chat, s.length, t.limits(job))
	if err == nil && !counted {
		err = nextMonth("it is longer than what is left of this month's minutes (TRANSCRIBE_MINUTES), or of its chat's half")
	}
	return err
}

// limits returns how much sound may be transcribed in a month.
func (t *Transcriber) limits(job store.Transcription) store.Minutes {
	limits := store.Minutes{All: t.o.PerMonth}
	if !job.Whole {
		limits.Chat = bridge.ChatMinutes(t.o.PerMonth)
	}
	return limits
}

// hear has the service write the words down. Short notes are often taken for a language that nobody
// speaks: then it is told to hear the most likely one. What it heard first stands if it refuses
// that, or fails in the last try.
func (t *Transcriber) hear(ctx context.Context, job store.Transcription, s sound, log zerolog.Logger) (heard, error) {
	hint := ""
	if len(t.o.Languages) == 1 {
		hint = t.o.Languages[0]
	}
	first, err := t.service.transcribe(ctx, s, hint)
	if err != nil || len(t.o.Languages) < 2 || first.isIn(t.o.Languages) {
		return first, err
	}
	var over *failure
	if err := t.count(ctx, job, s); errors.As(err, &over) {
		return first, nil
	} else if err != nil {
		return heard{}, err
	}
	again, err := t.service.transcribe(ctx, s, t.o.Languages[0])
	var f *failure
	if errors.As(err, &f) && ctx.Err() == nil && (job.Tries >= mostTries || !f.isService) {
		if err := t.uncount(ctx, job, s, f); err != nil {
			return heard{}, err
		}
		log.Warn().Str("failure", f.sentence).Str("language", t.o.Languages[0]).Msg("voice note not transcribed once more with the first of TRANSCRIBE_LANGUAGES as a hint: the first transcript stands")
		return first, nil
	}
	return again, err
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
		return t.giveUp(ctx, job, f.sentence, log)
	}
	if f.notMade {
		until := s.Clock().Now().Add(f.after)
		if f.nextMonth {
			until = bridge.NextMonth(s.Clock().Now())
			log.Warn().Time("until", until).Msg("voice note not transcribed this month: " + f.sentence)
		}
		return s.PostponeTranscription(ctx, job, until, false)
	}
	t.results.WithLabelValues("failed").Inc()
	log.Warn().Str("failure", f.sentence).Msg("voice note not transcribed yet")
	if err := s.PostponeTranscription(ctx, job, s.Clock().Now().Add(f.after), true); err != nil {
		return err
	}
	if f.isService {
		if t.failures == 0 || t.failedLast != job.MsgID { // one message's failures say less of the service
			t.failures++
		}
		t.failedLast = job.MsgID
		bridge.Sleep(ctx, max(f.after, t.rest(t.failures)))
	}
	return nil
}

// giveUp makes no more tries.
func (t *Transcriber) giveUp(ctx context.Context, job store.Transcription, why string, log zerolog.Logger) error {
	t.results.WithLabelValues("given_up").Inc()
	log.Warn().Str("failure", why).Msg("voice note not transcribed, and not tried again")
	return t.o.Store.DropTranscription(ctx, job)
}

// failure is why a try failed, in a sentence for the operator, without what was said.
type failure struct {
	sentence  string
	isService bool          // it would fail with any message
	isFinal   bool          // it would fail again
	notMade   bool          // nothing was tried
	isFree    bool          // the sound has not left, or the service has refused it
	isSlow    bool          // the service took too long
	nextMonth bool          // it is not tried again before
	after     time.Duration // before which it is not tried again
}

// Error returns the sentence.
func (f *failure) Error() string { return f.sentence }

// nextMonth returns the failure of a message that waits for the next month.
func nextMonth(sentence string) error {
	return &failure{sentence: sentence, notMade: true, nextMonth: true}
}

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
