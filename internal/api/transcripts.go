package api

import (
	"context"
	"time"

	"bridged/internal/api/callers"
	"bridged/internal/bridge"
	"bridged/internal/media/probe"
)

// transcription returns the state of transcription; nil without a service.
func (s *server) transcription(ctx context.Context) (*bridge.Transcription, error) {
	if s.Transcription == nil {
		return nil, nil
	}
	t := *s.Transcription
	work, err := s.Store.Transcribed(ctx)
	t.Waiting, t.PutOff, t.SecondsUsed = work.Waiting, work.PutOff, int(work.Used.Seconds())
	if t.SecondsLimit != nil && t.SecondsUsed >= *t.SecondsLimit {
		t.PutOff = t.Waiting
	}
	return &t, err
}

// mayTranscribe refuses callers that may not request transcripts.
func mayTranscribe(caller bridge.Token) error {
	if !caller.Transcribes() {
		return bridge.Fail(bridge.CodeForbidden, "transcripts need a token with the scopes read and send, or with manage")
	}
	return nil
}

// accepted is the answer about work that goes on after it.
type accepted struct{ asked any }

// requestTranscript answers with the transcript of a message, or requests one, which takes a while.
// It opens the file first, so that a caller learns at once if the file is gone.
func requestTranscript(in *input) (any, error) {
	at := in.pathStoredMessage("jid")
	in.body(&struct{}{}, optional)
	if in.err == nil && in.Transcription == nil {
		in.refuse("no service transcribes here: TRANSCRIBE_URL must name one")
	}
	if in.err != nil {
		return nil, in.err
	}
	m, err := in.message(in.ctx(), at.chat, at.id)
	if err != nil {
		return nil, err
	}
	answer := bridge.TranscriptRequest{ChatJID: m.Chat, MsgID: m.ID, Transcript: m.Transcript}
	if m.Transcript != nil {
		if !callers.Of(in.ctx()).Allows(bridge.ScopeRead) {
			answer.Transcript = nil // a token that cannot read may only request it
			return accepted{answer}, nil
		}
		return answer, nil
	}
	if m.DeletedAt != nil {
		return nil, bridge.NotFound("the message was deleted, and its file with it")
	}
	if err := m.Transcribable(); err != nil {
		return nil, err
	}
	file, err := in.Files.Open(in.ctx(), m)
	if err != nil {
		return nil, err
	}
	in.closed(file)
	t, err := in.transcription(in.ctx())
	if err != nil {
		return nil, err
	}
	// A token that manages the bridge may use all minutes for one chat.
	whole := in.caller().Chats == nil && in.caller().Allows(bridge.ScopeManage)
	if t.SecondsLimit != nil {
		used, err := in.Store.TranscribedOf(in.ctx(), m.Chat)
		if err != nil {
			return nil, err
		}
		month := time.Duration(*t.SecondsLimit) * time.Second
		left := month - time.Duration(t.SecondsUsed)*time.Second
		if !whole {
			left = min(left, bridge.ChatMinutes(month)-used)
		}
		switch length := probe.LengthOf(file, m); {
		case length > month:
			return nil, bridge.Invalid("the audio is longer than all the minutes of a month (TRANSCRIBE_MINUTES)")
		case length > left:
			answer.WaitsUntil = new(bridge.At(bridge.NextMonth(in.Store.Clock().Now())))
		}
	}
	return accepted{answer}, in.Store.AskTranscript(in.ctx(), m.Chat, m.ID, whole)
}
