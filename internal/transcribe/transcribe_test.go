package transcribe

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"bridged/internal/bridge"
	"bridged/internal/store/settings"
)

func TestTranscriber_AsksTheServiceAsOpenAIDescribes(t *testing.T) {
	s := newStage(t, says(" "+secretWords+" ", "english"))
	s.note("V1", 3, 3)
	on := s.transcriber(func(o *Options) { o.Key, o.Model, o.Language = "sk-secret", "whisper-1", "en" })
	if wait := s.work(on); wait != idle {
		t.Errorf("then it waits for %s", wait)
	}
	got := s.requests()
	if len(got) != 1 {
		t.Fatalf("%d requests", len(got))
	}
	want := asked{
		path: "/whisper/v1/audio/transcriptions", authorization: "Bearer sk-secret", agent: "bridged/test", length: got[0].length,
		file: string(s.sounds["V1"]), fileName: "sound.ogg", fileType: "audio/ogg",
	}
	fields := got[0].fields
	if got[0].fields = nil; fmt.Sprint(got[0]) != fmt.Sprint(want) || got[0].length <= int64(len(s.sounds["V1"])) {
		t.Errorf("request: %+v", got[0])
	}
	if fmt.Sprint(fields) != "map[language:en model:whisper-1 response_format:verbose_json]" {
		t.Errorf("fields: %v", fields)
	}
	if text := s.transcript("V1"); text != secretWords+" (en)" {
		t.Errorf("transcript: %q", text)
	}
	if work, err := s.store.Transcribed(t.Context()); err != nil || work.Used != 3*time.Second {
		t.Errorf("used %s, %v", work.Used, err)
	}
	s.wantLog("voice note transcribed")
	if strings.Contains(s.log.String(), "sk-secret") {
		t.Error("the key is in the log")
	}
}

func TestTranscriber_TakesTheNewestFirstAndOneAtATime(t *testing.T) {
	s := newStage(t, says(secretWords, "en"))
	for i := range 5 {
		s.note(fmt.Sprintf("V%d", i), i+1, 0)
	}
	s.work(s.transcriber())
	var lengths []int
	for _, r := range s.requests() {
		lengths = append(lengths, len(r.file))
	}
	if !slices.IsSortedFunc(lengths, func(a, b int) int { return b - a }) || len(lengths) != 5 {
		t.Errorf("sounds came with %v bytes", lengths)
	}
}

// Not every model has the format that names the language: the log says so.
func TestTranscriber_NamesAModelWithoutTheFormat(t *testing.T) {
	for name, refusal := range map[string]http.HandlerFunc{
		"OpenAI": status(400, `{"error":{"message":"response_format 'verbose_json' is not compatible with model 'gpt-4o-transcribe'.","type":"invalid_request_error","param":"response_format","code":"unsupported_value"}}`),
		"vLLM":   status(422, `{"detail":[{"loc":["body","response_format"],"msg":"Input should be 'json' or 'text'"}]}`),
	} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t, inTurn(refusal, says(secretWords, "en")))
			s.note("V1", 1, 1)
			s.work(s.transcriber())
			s.wantLog("set TRANSCRIBE_MODEL to one that does")
		})
	}
}

func TestTranscriber_TriesAgain(t *testing.T) {
	s := newStage(t, inTurn(status(500, "oops"), status(503, ""), says(secretWords, "en")))
	s.note("V1", 2, 2)
	s.work(s.transcriber())
	if got := s.transcript("V1"); got != secretWords+" (en)" || len(s.requests()) != 3 {
		t.Errorf("transcript %q after %d requests", got, len(s.requests()))
	}
	s.wantLog("the service answered 500 Internal Server Error", "the service answered 503 Service Unavailable")
}

func TestTranscriber_GivesUpAfterSixTries(t *testing.T) {
	s := newStage(t, status(500, ""))
	s.note("V1", 2, 2)
	on := s.transcriber()
	if wait := s.work(on); wait != idle || len(s.requests()) != mostTries {
		t.Errorf("%d requests, then a pause of %s", len(s.requests()), wait)
	}
	s.wantLog("giving up on transcribing a voice note")
	s.answers(says(secretWords, "en"))
	if err := s.store.AskTranscript(t.Context(), grace, "V1", false); err != nil {
		t.Fatal(err)
	}
	if s.work(on); s.transcript("V1") == "" {
		t.Error("asked for again, it is not transcribed")
	}
}

// Whatever the service does is bounded, and told without what it says.
func TestTranscriber_BoundsWhatTheServiceDoes(t *testing.T) {
	endless := func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `{"text":"`)
		for {
			if _, err := io.WriteString(w, strings.Repeat(secretWords, 1<<10)); err != nil {
				return
			}
		}
	}
	for name, test := range map[string]struct {
		answer http.HandlerFunc
		want   string
	}{
		"promises more than comes": {status(200, `{"text":"`+secretWords+`"}`, "Content-Length", "1000"), "the service broke its answer off"},
		"promises less":            {func(w http.ResponseWriter, _ *http.Request) { short(w, `{"text":"`+secretWords+`"}`, 20) }, "the service's answer is not JSON with a text"},
		"never ends":               {endless, "the service's answer has more than 8 MiB"},
		"breaks off":               {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, "the service broke its answer off"},
		"a page":                   {status(200, "<!DOCTYPE html><title>"+secretWords+"</title>", "Content-Type", "text/html"), "the service's answer is not JSON with a text"},
		"no text":                  {status(200, `{"segments":[{"text":"`+secretWords+`"}]}`), "the service's answer is not JSON with a text"},
		"another type":             {status(200, `{"text":["`+secretWords+`"]}`), "the service's answer is not JSON with a text"},
		"large head":               {status(200, "{}", "X-Large", strings.Repeat(secretWords, 1<<13)), "the service cannot be reached"},
		"no key":                   {status(401, `{"error":{"message":"`+secretWords+`","code":"invalid_api_key"}}`), "the service answered 401 Unauthorized (invalid_api_key): look at TRANSCRIBE_KEY"},
		"no model":                 {status(404, `{"error":{"message":"`+secretWords+`","type":"invalid_request_error","code":null}}`), "the service answered 404 Not Found (invalid_request_error): TRANSCRIBE_URL must be"},
		"no code":                  {status(400, `{"error":{"code":"`+secretWords+`"}}`), "the service answered 400 Bad Request\""},
		"an endless refusal":       {func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(500); endless(w, r) }, "the service answered 500"},
	} {
		s := newStage(t, test.answer)
		s.note("V1", 1, 1)
		s.work(s.transcriber())
		if got := s.transcript("V1"); got != "" {
			t.Errorf("%s: transcript %q", name, got)
		}
		s.wantLog(test.want)
	}
}

// short answers with a length that is too short for its body.
func short(w http.ResponseWriter, body string, length int) {
	conn, buffered, err := w.(http.Hijacker).Hijack()
	if err != nil {
		panic(err)
	}
	defer conn.Close()
	fmt.Fprintf(buffered, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", length, body)
	_ = buffered.Flush()
}

func TestTranscriber_KeepsTextThatCanBeKept(t *testing.T) {
	long := strings.Repeat("ä", 40<<10)
	for name, test := range map[string]struct{ answer, want string }{
		"invalid UTF-8":     {"{\"text\":\"a\xffb\\u0000c\\ud800\"}", "a\uFFFDbc\uFFFD (unknown)"},
		"silence":           {`{"text":"  \n","language":"de"}`, " (de)"},
		"too long":          {`{"text":"` + long + `"}`, long[:64<<10] + " (unknown)"},
		"strange languages": {`{"text":"a","language":7}`, "a (unknown)"},
		"no code":           {`{"text":"a","language":"<b>en</b>"}`, "a (unknown)"},
		"a long language":   {`{"text":"a","language":"` + strings.Repeat("en-", 1<<20) + `"}`, "a (unknown)"},
		"a code":            {`{"text":"a","language":"pt-BR"}`, "a (pt-br)"},
	} {
		s := newStage(t, status(200, test.answer))
		s.note("V1", 1, 1)
		s.work(s.transcriber())
		if got := s.transcript("V1"); got != test.want {
			t.Errorf("%s: %q, want %q", name, got[:min(len(got), 100)], test.want[:min(len(test.want), 100)])
		}
	}
}

func TestTranscriber_DoesNotLeaveTheBase(t *testing.T) {
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("the sound went elsewhere") }))
	defer elsewhere.Close()
	for _, target := range []string{elsewhere.URL + "/whisper/v1/audio/transcriptions", "/other", "/whisper/../other", "/whisperer", "//" + strings.TrimPrefix(elsewhere.URL, "http://") + "/whisper/x"} {
		for _, code := range []int{301, 302, 303, 307, 308} {
			s := newStage(t, status(code, "", "Location", target))
			s.note("V1", 1, 1)
			s.work(s.transcriber())
			if n := len(s.requests()); n != mostTries {
				t.Errorf("%d to %s: %d requests, want %d", code, target, n, mostTries)
			}
			s.wantLog("it redirects to another address, which TRANSCRIBE_URL must be")
		}
	}
	s := newStage(t, inTurn(status(308, "", "Location", "/whisper/other/"), says(secretWords, "en")))
	s.note("V1", 1, 1)
	s.work(s.transcriber(func(o *Options) { o.Key = "key" }))
	got := s.requests()
	if len(got) != 2 || got[1].path != "/whisper/other/" || got[1].file != got[0].file || got[1].authorization != "Bearer key" || s.transcript("V1") == "" {
		t.Errorf("a redirect below the base: %+v", got)
	}
}

func TestTranscriber_WaitsAsLongAsTheServiceAsks(t *testing.T) {
	for value, want := range map[string]time.Duration{
		"40": 40 * time.Second, "99999999999": longestAsked, "-1": 0, "soon": 0, "": 0,
	} {
		s := newStage(t, status(429, `{"error":{"code":"rate_limit_exceeded"}}`, "Retry-After", value))
		s.note("V1", 1, 1)
		on := s.transcriber()
		ctx, stop := context.WithCancel(t.Context())
		on.rest = func(failures int) time.Duration { stop(); return 0 } // it does not rest in the test
		if _, err := on.next(ctx); err != nil {
			t.Fatal(err)
		}
		s.wantLog("the service answered 429 Too Many Requests (rate_limit_exceeded)")
		wait := time.Duration(0)
		if want > 0 {
			wait = s.work(on)
		}
		if wait > want || wait < want-time.Minute/2 {
			t.Errorf("Retry-After %q: a pause of %s, want %s", value, wait, want)
		}
	}
	if got := bridge.RetryAfter(noon.Add(time.Minute).Format(http.TimeFormat), noon, longestAsked); got != time.Minute {
		t.Errorf("a date in a minute: %s", got)
	}
}

func TestTranscriber_RestsLongerEachTimeTheServiceFails(t *testing.T) {
	var rests, pauses []time.Duration
	for n := 1; n <= 8; n++ {
		rests = append(rests, restAfter(n))
	}
	sum := time.Duration(0)
	for tries := 1; tries <= mostTries; tries++ {
		pauses = append(pauses, pauseAfter(tries))
		sum += pauseAfter(tries)
	}
	if !slices.IsSorted(rests) || rests[0] != 15*time.Second || rests[7] != 5*time.Minute || sum < 14*time.Hour || sum > 15*time.Hour || !slices.IsSorted(pauses[:mostTries-1]) {
		t.Errorf("rests %v, pauses %v of %s", rests, pauses, sum)
	}
	if pauseAfter(mostTries+5) != pauseAfter(mostTries) {
		t.Error("a try too many")
	}
}

func TestTranscriber_GivesASlowServiceUp(t *testing.T) {
	s := newStage(t, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	s.note("V1", 1, 1)
	on := s.transcriber()
	on.service.timeout = func(time.Duration) time.Duration { return 20 * time.Millisecond }
	s.work(on)
	s.wantLog("the service took too long")
	if short, long := timeoutFor(time.Second), timeoutFor(10*time.Hour); short < 2*time.Minute || long != 2*time.Hour {
		t.Errorf("timeouts %s and %s", short, long)
	}
}

// TestTranscriber_GoesOnAfterAStop in the middle of a request, which does not count.
func TestTranscriber_GoesOnAfterAStop(t *testing.T) {
	begun := make(chan struct{}, 1)
	s := newStage(t, func(_ http.ResponseWriter, r *http.Request) {
		begun <- struct{}{}
		<-r.Context().Done()
	})
	s.note("V1", 1, 1)
	run := func() (end func()) {
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			s.transcriber().Run(ctx)
		}()
		return func() { stop(); <-ended }
	}
	end := run()
	<-begun
	end()
	s.close()
	s.open()
	s.answers(says(secretWords, "en"))
	changed := s.store.Changed()
	end = run()
	<-changed
	end() // with what it logs
	if got := s.transcript("V1"); got != secretWords+" (en)" {
		t.Errorf("transcript %q", got)
	}
	if strings.Contains(s.log.String(), `"level":"warn"`) || !strings.Contains(s.log.String(), `"try":1`) {
		t.Errorf("log: %s", s.log)
	}
}

// What kills the bridge, such as for want of memory, is not tried at each start.
func TestTranscriber_GivesUpWhatKillsTheBridge(t *testing.T) {
	s := newStage(t, says(secretWords, "en"))
	s.note("V1", 1, 1)
	for range mostTries { // each of which was killed
		if job, _, err := s.store.NextTranscription(t.Context(), func(int) time.Duration { return 0 }); err != nil || job == nil {
			t.Fatalf("%+v, %v", job, err)
		}
	}
	if wait := s.work(s.transcriber()); wait != idle || len(s.requests()) != 0 {
		t.Errorf("%d requests, then a pause of %s", len(s.requests()), wait)
	}
	s.wantLog("giving up on transcribing a voice note")
}

func TestTranscriber_SendsNothingOnceItIsSwitchedOff(t *testing.T) {
	s := newStage(t, says(secretWords, "en"))
	s.note("V1", 1, 1)
	s.close()
	s.mode = bridge.TranscribeOff
	s.open()
	if wait := s.work(s.transcriber()); wait != idle || len(s.requests()) != 0 {
		t.Errorf("%d requests, then a pause of %s", len(s.requests()), wait)
	}
}

func TestTranscriber_WakesUpForANewNote(t *testing.T) {
	s := newStage(t, says(secretWords, "en"))
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	go s.transcriber().Run(ctx)
	s.note("V1", 1, 1)
	for changed := s.store.Changed(); s.transcript("V1") == ""; changed = s.store.Changed() {
		<-changed // taken before the look, so that no change comes between
	}
}

func TestTranscriber_DeletionWins(t *testing.T) {
	s := newStage(t, nil)
	s.answers(func(w http.ResponseWriter, r *http.Request) {
		if err := s.store.Save(context.Background(), bridge.Deletion{Chat: grace, Target: "V1", By: grace, Timestamp: bridge.At(s.now)}); err != nil {
			t.Error(err)
		}
		says(secretWords, "en")(w, r)
	})
	s.note("V1", 1, 1)
	if wait := s.work(s.transcriber()); wait != idle || len(s.requests()) != 1 {
		t.Errorf("%d requests, then a pause of %s", len(s.requests()), wait)
	}
	if got := s.transcript("V1"); got != "" {
		t.Errorf("a deleted message has the transcript %q", got)
	}
	found, err := s.store.Search(t.Context(), bridge.SearchQuery{Q: secretWords})
	if err != nil || len(found.Items) != 0 {
		t.Errorf("found: %+v, %v", found.Items, err)
	}
}

func TestTranscriber_DropsWhatItCannotHave(t *testing.T) {
	for name, test := range map[string]struct {
		err      error
		requests int // once the file is there
		log      string
	}{
		"gone":        {bridge.Fail(bridge.CodeMediaGone, "the file is gone"), 0, "giving up on transcribing a voice note"},
		"too large":   {bridge.Fail(bridge.CodeMediaTooLarge, "the file is too large"), 0, "giving up on transcribing a voice note"},
		"unavailable": {bridge.Fail(bridge.CodeMediaUnavailable, "try later"), 0, "its file could not be downloaded: try later"},
		"offline":     {bridge.NotConnected("the account is not open"), 1, ""},
	} {
		s := newStage(t, says(secretWords, "en"))
		s.note("V1", 1, 1)
		s.missing = test.err
		on := s.transcriber()
		s.work(on)
		s.wantLog(test.log)
		s.missing, s.now = nil, s.now.Add(2*time.Minute)
		s.close()
		s.open()
		s.work(s.transcriber())
		if n := len(s.requests()); n != test.requests {
			t.Errorf("%s: %d requests later, want %d", name, n, test.requests)
		}
	}
}

// The minutes are those that the sound plays, not those that its sender claims.
func TestTranscriber_KeepsToTheMonthsMinutes(t *testing.T) {
	s := newStage(t, says(secretWords, "en"))
	minute := func(o *Options) { o.PerMonth = time.Minute }
	s.note("old", 30, 1)
	s.note("long", 61, 1)
	s.note("new", 40, 1)
	wait := s.work(s.transcriber(minute))
	if got := len(s.requests()); got != 1 || s.transcript("new") == "" || s.transcript("old") != "" || s.transcript("long") != "" {
		t.Errorf("%d requests", got)
	}
	s.wantLog("it is longer than a month's minutes (TRANSCRIBE_MINUTES)", "it is longer than what is left of this month's minutes (TRANSCRIBE_MINUTES)")
	if month := bridge.NextMonth(noon).Sub(noon); wait > month || wait < month-time.Hour {
		t.Errorf("a pause of %s, want %s", wait, month)
	}

	s.note("short", 20, 1) // there is room for it
	on := s.transcriber(minute)
	s.work(on)
	s.note("none", 1, 1)
	s.work(on)
	s.work(on)
	if got := s.transcript("short") + s.transcript("none") + s.transcript("old"); got != secretWords+" (en)" || len(s.requests()) != 2 {
		t.Errorf("%d requests, %q", len(s.requests()), got)
	}
	if n := strings.Count(s.log.String(), "this month's minutes are used up"); n != 1 {
		t.Errorf("told %d times", n)
	}

	s.close()
	s.now = bridge.NextMonth(noon)
	s.open()
	s.work(s.transcriber(minute))
	if s.transcript("none") == "" || s.transcript("old") == "" || len(s.requests()) != 4 {
		t.Errorf("%d requests in the next month", len(s.requests()))
	}
}

// Notes that wait for the next month are looked at again at each start: the limit may be raised.
func TestTranscriber_GoesOnWithMoreMinutes(t *testing.T) {
	s := newStage(t, says(secretWords, "en"))
	perMonth := func(limit time.Duration) *Transcriber {
		return s.transcriber(func(o *Options) { o.PerMonth = limit })
	}
	s.note("old", 30, 1)
	s.note("new", 40, 1)
	s.work(perMonth(time.Minute))
	if work, err := s.store.Transcribed(t.Context()); err != nil || work != (settings.TranscriptWork{Waiting: 1, PutOff: 1, Used: 40 * time.Second}) {
		t.Errorf("%+v, %v", work, err)
	}
	s.work(perMonth(2 * time.Minute))
	if work, err := s.store.Transcribed(t.Context()); err != nil || work != (settings.TranscriptWork{Used: 70 * time.Second}) {
		t.Errorf("%+v, %v", work, err)
	}
}

// Notes that are long, or that the service refuses or takes too long for, leave the month's minutes
// and the service to others.
func TestTranscriber_OneNoteDoesNotUseUpTheMonth(t *testing.T) {
	s := newStage(t, inTurn(status(500, ""), status(400, ""), says(secretWords, "en")))
	s.note("1", 40, 1)
	on := s.transcriber(func(o *Options) { o.PerMonth = time.Hour })
	s.work(on)
	if work, err := s.store.Transcribed(t.Context()); err != nil || work.Used != 40*time.Second {
		t.Errorf("%s used, %v", work.Used, err)
	}
	for length, want := range map[time.Duration]string{10 * time.Minute: "", 16 * time.Minute: "a quarter", 3 * time.Hour: "longer than 2h"} {
		if err := on.count(t.Context(), settings.Transcription{Chat: grace}, recording{length: length}); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v", length, err)
		}
	}
	slow := func(length time.Duration, tries int) *failure {
		f := &failure{isSlow: true, isService: true}
		_ = forLong(f, length, tries)
		return f
	}
	if f := slow(time.Hour, 1); f.isService || f.isFinal {
		t.Errorf("a long note at first: %+v", f)
	}
	if f := slow(time.Hour, 2); f.isService || !f.isFinal {
		t.Errorf("a long note again: %+v", f)
	}
	if f := slow(time.Minute, 5); !f.isService || f.isFinal {
		t.Errorf("a short note: %+v", f)
	}
}

// Many notes of one chat leave half of the month's minutes to others, and their files are not fetched
// until the next month. Who may read all chats may use the whole.
func TestTranscriber_OneChatDoesNotUseUpTheMonth(t *testing.T) {
	s := newStage(t, says(secretWords, "en"))
	const eight = 8 * 60
	for _, id := range []string{"1", "2", "3"} {
		s.note(id, eight, 1)
	}
	on := s.transcriber(func(o *Options) { o.PerMonth = 30 * time.Minute })
	s.work(on)
	if work, err := s.store.Transcribed(t.Context()); err != nil || work != (settings.TranscriptWork{Waiting: 2, PutOff: 2, Used: 8 * time.Minute}) {
		t.Errorf("%+v, %v", work, err)
	}
	s.wantLog("or of its chat's half")
	if err := s.store.AskTranscript(t.Context(), grace, "1", true); err != nil {
		t.Fatal(err)
	}
	s.work(on)
	if s.transcript("1") == "" || s.transcript("2") != "" {
		t.Error("the note that BRIDGE_TOKEN asked for has no transcript, or another one has")
	}
	s.missing = errors.New("the file was asked for")
	s.note("4", 1, 1)
	s.work(on)
	s.wantLog("its chat has used its half of this month's minutes")
	if strings.Contains(s.log.String(), s.missing.Error()) {
		t.Error("the file of a note that must wait was fetched")
	}
}

// One message with which the service fails does not put the others to rest for longer each time.
func TestTranscriber_OneFailingNoteDoesNotProlongTheRest(t *testing.T) {
	s := newStage(t, status(500, ""))
	s.note("1", 1, 1)
	on := s.transcriber()
	var rests []int
	on.rest = func(failures int) time.Duration { rests = append(rests, failures); return 0 }
	s.work(on)
	s.note("2", 1, 1)
	s.work(on)
	if want := []int{1, 1, 1, 1, 1, 2, 2, 2, 2, 2}; !slices.Equal(rests, want) {
		t.Errorf("rests after %v failures, want %v", rests, want)
	}
}

// What a service cannot be sent costs no minutes: they would be used up when it is back.
func TestTranscriber_CountsNoMinutesWhileTheServiceIsAway(t *testing.T) {
	s := newStage(t, says(secretWords, "en"))
	nobody := httptest.NewServer(nil)
	nobody.Close()
	s.note("1", 40, 1)
	s.work(s.transcriber(func(o *Options) {
		o.PerMonth = time.Minute
		o.URL, _ = url.Parse(nobody.URL)
	}))
	s.wantLog("the service cannot be reached")
	if work, err := s.store.Transcribed(t.Context()); err != nil || work.Used != 0 {
		t.Errorf("%s used, %v", work.Used, err)
	}
}

func TestTranscriber_Language(t *testing.T) {
	for name, test := range map[string]struct{ language, answer, want string }{
		"any":       {"", "French", "a (fr)"},
		"hint":      {"de", "welsh", "a (cy)"},
		"unknown":   {"", "", "a (unknown)"},
		"not known": {"", "Klingon", "a (unknown)"},
	} {
		s := newStage(t, says("a", test.answer))
		s.note("V1", 5, 5)
		s.work(s.transcriber(func(o *Options) { o.Language = test.language }))
		asked := s.requests()
		if got := s.transcript("V1"); got != test.want || len(asked) != 1 || asked[0].fields["language"] != test.language {
			t.Errorf("%s: %q, %d requests", name, got, len(asked))
		}
	}
}

func TestFileType(t *testing.T) {
	for mimeType, want := range map[string]string{
		"audio/ogg; codecs=opus": "audio/ogg sound.ogg", "audio/mpeg": "audio/mpeg sound.mp3", "audio/mp4": "audio/mp4 sound.m4a", "video/mp4": "video/mp4 sound.mp4",
		"audio/x-m4a": "audio/x-m4a sound.m4a", "audio/wav": "audio/wav sound.wav", "audio/unheard": "audio/unheard sound.bin",
		"": "application/octet-stream sound.bin", "audio/ogg\r\nX-Injected: 1": "application/octet-stream sound.bin",
	} {
		if base, name := fileType(mimeType); base+" "+name != want {
			t.Errorf("%s: %s %s, want %s", strconv.Quote(mimeType), base, name, want)
		}
	}
}
