package api_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"bridged/internal/api"
	"bridged/internal/bridge"
	"bridged/internal/store/settings"
)

// transcriptOf is the route of one message's transcript.
func transcriptOf(chat bridge.JID, id string) string {
	return "/api/chats/" + chat.Escaped() + "/messages/" + id + "/transcript"
}

func minutesAMonth(n int) func(*api.Options) {
	return func(o *api.Options) { o.Transcription.SecondsLimit = new(60 * n) }
}

// voice is a voice note from Grace that is on the network's media server.
func (s *server) voice(id string) {
	s.cdn.send(s, id, bridge.Media{Type: bridge.MediaAudio, MimeType: "audio/ogg; codecs=opus", PTT: true, DurationSec: 3}, "the sound of "+id)
}

func TestTranscript_IsAskedForAndAnsweredOnceItIsThere(t *testing.T) {
	t.Parallel()
	s := newServer(t, minutesAMonth(1), sendDisabled)
	s.voice("V1")
	var answer bridge.TranscriptRequest
	for range 2 {
		s.Post(transcriptOf(grace, "V1"), "").Want(http.StatusAccepted).Decode(&answer)
		if answer.ChatJID != grace || answer.MsgID != "V1" || answer.Transcript != nil || answer.WaitsUntil != nil {
			t.Errorf("answer: %+v", answer)
		}
	}
	if got := s.stats("").Transcription; got == nil || *got != (bridge.Transcription{Mode: "off", Waiting: 1, SecondsLimit: got.SecondsLimit}) || *got.SecondsLimit != 60 {
		t.Errorf("stats: %+v", got)
	}
	job, _, err := s.store.NextTranscription(t.Context(), func(int) time.Duration { return time.Hour })
	if err != nil || job == nil {
		t.Fatalf("nothing to do, %v", err)
	}
	if counted, err := s.store.CountTranscribed(t.Context(), grace, time.Minute, settings.Minutes{All: time.Minute}); err != nil || !counted {
		t.Fatalf("counted: %t, %v", counted, err)
	}
	s.voice("V2")
	s.Post(transcriptOf(grace, "V2"), "").Want(http.StatusAccepted).Decode(&answer)
	if month := bridge.NextMonth(s.store.Clock().Now()); answer.WaitsUntil == nil || !answer.WaitsUntil.Equal(month) {
		t.Errorf("with the month's minutes used up: %+v, want %s", answer, month)
	}
	answer = bridge.TranscriptRequest{}
	if _, err := s.store.SaveTranscript(t.Context(), *job, bridge.NewTranscript("the engine weaves", "en", noon)); err != nil {
		t.Fatal(err)
	}
	answer = bridge.TranscriptRequest{}
	s.Post(transcriptOf(grace, "V1"), "").Want(http.StatusOK).Decode(&answer)
	if answer.Transcript == nil || answer.Transcript.Text != "the engine weaves" || *answer.Transcript.Language != "en" || answer.WaitsUntil != nil {
		t.Errorf("answer: %+v", answer)
	}
	answer = bridge.TranscriptRequest{}
	s.as(s.token(`{"name":"m","scopes":["manage"]}`)).Post(transcriptOf(grace, "V1"), "").Want(http.StatusAccepted).Decode(&answer)
	if answer.MsgID != "V1" || answer.Transcript != nil {
		t.Errorf("a token that does not read: %+v", answer)
	}
	var found struct{ Matches []bridge.Match }
	s.Get("/api/messages/search?q=ENGINE").Want(http.StatusOK).Decode(&found)
	if len(found.Matches) != 1 || found.Matches[0].Content != "" || found.Matches[0].Transcript == nil || found.Matches[0].Transcript.Text != "the engine weaves" {
		t.Errorf("found: %+v", found.Matches)
	}
	if m := s.message(grace, "V1"); m.Transcript == nil || m.Transcript.Text != "the engine weaves" {
		t.Errorf("message: %+v", m)
	}
}

func TestTranscript_IsRefused(t *testing.T) {
	t.Parallel()
	s, without := newServer(t), newServer(t, func(o *api.Options) { o.Transcription = nil })
	s.voice("V1")
	s.cdn.send(s, "P1", bridge.Media{Type: bridge.MediaImage, MimeType: "image/jpeg"}, "a picture")
	lost := say(grace, grace, "lost", "", 1)
	lost.Media = &bridge.Media{Type: bridge.MediaAudio, PTT: true, Ref: bridge.MediaRef{DirectPath: "/lost", MediaKey: make([]byte, 32), FileEncSHA256: make([]byte, 32)}}
	once := lost
	once.ID, once.ViewOnce = "once", true
	deleted := lost
	deleted.ID = "deleted"
	s.know(say(grace, grace, "T1", "a text", 1), lost, once, deleted, bridge.Deletion{Chat: grace, Target: "deleted", By: grace, Timestamp: bridge.At(noon)})
	for name, test := range map[string]struct {
		on     *server
		id     string
		body   string
		status int
		code   string
	}{
		"without a service":  {without, "V1", "", 400, "invalid_request"},
		"of a text":          {s, "T1", "", 400, "invalid_request"},
		"of a picture":       {s, "P1", "", 400, "invalid_request"},
		"of what shows once": {s, "once", "", 400, "invalid_request"},
		"unknown":            {s, "none", "", 404, "not_found"},
		"deleted":            {s, "deleted", "", 404, "not_found"},
		"an unknown field":   {s, "V1", `{"language":"en"}`, 400, "invalid_request"},
		"a large body":       {s, "V1", strings.Repeat(" ", 1<<20+1), 413, "payload_too_large"},
		"without its file":   {s, "lost", "", 500, "media_gone"},
	} {
		if got := test.on.Post(transcriptOf(grace, test.id), test.body); got.Status != test.status || got.Code() != test.code {
			t.Errorf("%s: %d %s", name, got.Status, got.Body)
		}
	}
	s.cdn.answers(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	if got := s.Post(transcriptOf(grace, "V1"), ""); got.Status != 503 || got.Code() != "media_unavailable" {
		t.Errorf("without the network's server: %d %s", got.Status, got.Body)
	}
	if got := s.stats("").Transcription; got.Waiting != 0 {
		t.Errorf("%d wait", got.Waiting)
	}
	if without.stats("").Transcription != nil {
		t.Error("stats of a service that there is not")
	}
}

func TestTranscript_IsOfTheTokensChats(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	s.voice("V1")
	s.know(members(club, "Readers", grace, me))
	for body, want := range map[string]int{
		`{"name":"a","scopes":["manage","read"],"chats":["` + string(grace) + `"]}`: http.StatusAccepted,
		`{"name":"b","scopes":["manage","read"],"chats":["` + string(club) + `"]}`:  http.StatusNotFound,
		`{"name":"c","scopes":["read","send"],"chats":["` + string(grace) + `"]}`:   http.StatusAccepted,
		`{"name":"d","scopes":["read","send"],"chats":["` + string(club) + `"]}`:    http.StatusNotFound,
	} {
		s.as(s.token(body)).Post(transcriptOf(grace, "V1"), "").Want(want)
	}
}

// A token of one chat uses half of the month's minutes with it; a token of all chats that manages uses the rest, too.
func TestTranscript_AChatHasHalfOfTheMonth(t *testing.T) {
	t.Parallel()
	s := newServer(t, minutesAMonth(30))
	s.voice("V1")
	s.voice("V2")
	half := 15 * time.Minute
	if counted, err := s.store.CountTranscribed(t.Context(), grace, half, settings.Minutes{Chat: half}); err != nil || !counted {
		t.Fatalf("counted: %t, %v", counted, err)
	}
	var one, all bridge.TranscriptRequest
	guest := s.token(`{"name":"a","scopes":["manage","read"],"chats":["` + string(grace) + `"]}`)
	s.as(guest).Post(transcriptOf(grace, "V1"), "").Want(http.StatusAccepted).Decode(&one)
	s.Post(transcriptOf(grace, "V2"), "").Want(http.StatusAccepted).Decode(&all)
	if one.WaitsUntil == nil || all.WaitsUntil != nil {
		t.Errorf("one chat's token: %+v, BRIDGE_TOKEN: %+v", one, all)
	}
}

// TestTranscript_NeedsReadAndSendOrManage: agents' tokens have the first two. A token that
// manages without reading has transcripts made, and learns none.
func TestTranscript_NeedsReadAndSendOrManage(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	s.voice("V1")
	for scopes, want := range map[string]int{
		`"read"`: http.StatusForbidden, `"send"`: http.StatusForbidden, `"read","send"`: http.StatusAccepted, `"manage"`: http.StatusAccepted,
		`"read","manage"`: http.StatusAccepted, `"send","manage"`: http.StatusAccepted,
	} {
		s.as(s.token(`{"name":"t","scopes":[`+scopes+`]}`)).Post(transcriptOf(grace, "V1"), "").Want(want)
	}
}

// A note that is longer than what is left of the month waits, though shorter ones do not.
func TestTranscript_SaysThatItWaitsForTheNextMonth(t *testing.T) {
	t.Parallel()
	s := newServer(t, minutesAMonth(1))
	for id, seconds := range map[string]int{"short": 10, "long": 30, "endless": 61} {
		s.cdn.send(s, id, bridge.Media{Type: bridge.MediaAudio, MimeType: "audio/amr", DurationSec: seconds}, "the sound of "+id)
	}
	if counted, err := s.store.CountTranscribed(t.Context(), grace, 40*time.Second, settings.Minutes{All: time.Minute}); err != nil || !counted {
		t.Fatalf("counted: %t, %v", counted, err)
	}
	var short, long bridge.TranscriptRequest
	s.Post(transcriptOf(grace, "short"), "").Want(http.StatusAccepted).Decode(&short)
	s.Post(transcriptOf(grace, "long"), "").Want(http.StatusAccepted).Decode(&long)
	if month := bridge.NextMonth(s.store.Clock().Now()); short.WaitsUntil != nil || long.WaitsUntil == nil || !long.WaitsUntil.Equal(month) {
		t.Errorf("short: %+v, long: %+v", short, long)
	}
	if got := s.Post(transcriptOf(grace, "endless"), "").Want(http.StatusBadRequest); !strings.Contains(string(got.Body), "longer than all the minutes of a month (TRANSCRIBE_MINUTES)") {
		t.Errorf("endless: %s", got.Body)
	}
}
