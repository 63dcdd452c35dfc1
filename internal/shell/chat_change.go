package shell

import (
	"context"
	"fmt"
	"time"

	"bridged/internal/bridge"
	"bridged/internal/client"
)

// MarkRead marks a chat as read, up to a message or completely if the message is "". With receipts, the
// authors get receipts, too.
func (s *Shell) MarkRead(ctx context.Context, what Target, receipts bool) error {
	if !receipts && what.Message != "" {
		return Usage("without receipts, a chat is marked as read completely: leave the message out")
	}
	if !receipts {
		return s.UpdateChat(ctx, what.Chat, what.Key, client.ChatChange{Unread: new(false)}, "Marked %s as read, without receipts.")
	}
	return s.makeChangeOf(ctx, s.find, what.Chat, what.Key, "Marked %s as read.", func(api *client.Client, chat bridge.JID, key string) error {
		return api.MarkRead(ctx, chat, what.Message, key)
	})
}

// UpdateChat changes the settings of a chat on all of the account's devices. did is a sentence with a verb
// for the chat.
func (s *Shell) UpdateChat(ctx context.Context, who, key string, change client.ChatChange, did string) error {
	return s.makeChangeOf(ctx, s.find, who, key, did, func(api *client.Client, chat bridge.JID, key string) error {
		return api.UpdateChat(ctx, chat, change, key)
	})
}

// Mute mutes a chat for a time, or forever if it is 0.
func (s *Shell) Mute(ctx context.Context, who, key string, length time.Duration) error {
	until, did := bridge.MutedForever(), "Muted %s."
	if length > 0 {
		until = bridge.At(s.Now().Add(length))
		did = "Muted %s until " + s.when(&until) + "."
	}
	err := s.UpdateChat(ctx, who, key, client.ChatChange{MutedUntil: &until}, did)
	if bridge.CodeOf(err) == bridge.CodeIdempotencyMismatch { // the time has moved on
		return hinted(err, "the same command asks for a later time now: repeat the command without --key")
	}
	return err
}

// ClearChat erases the messages of a chat on the account's devices, except for starred ones if keepStarred
// is set.
func (s *Shell) ClearChat(ctx context.Context, who, key string, keepStarred bool) error {
	return s.makeChangeOf(ctx, s.find, who, key, "Erased the messages of %s.", func(api *client.Client, chat bridge.JID, key string) error {
		return api.ClearChat(ctx, chat, keepStarred, key)
	})
}

// DeleteChat erases a chat on the account's devices.
func (s *Shell) DeleteChat(ctx context.Context, who, key string) error {
	return s.makeChangeOf(ctx, s.find, who, key, "Deleted %s.", func(api *client.Client, chat bridge.JID, key string) error {
		return api.DeleteChat(ctx, chat, key)
	})
}

// SetTimer sets the timer of disappearing messages of a chat or a group, in seconds; 0 is off.
func (s *Shell) SetTimer(ctx context.Context, who, key string, seconds uint32) error {
	did := "New messages in %s stay."
	if seconds > 0 {
		did = "New messages in %s disappear after " + bridge.Counted(seconds/86400, "day") + "."
	}
	return s.makeChangeOf(ctx, s.find, who, key, did, func(api *client.Client, chat bridge.JID, key string) error {
		if chat.IsGroup() {
			_, err := api.ChangeGroup(ctx, chat, bridge.GroupPatch{Disappearing: &seconds}, key)
			return err
		}
		return api.UpdateChat(ctx, chat, client.ChatChange{Expiration: &seconds}, key)
	})
}

// Block blocks a person, or ends that.
func (s *Shell) Block(ctx context.Context, who, key string, block bool) error {
	did := "Blocked %s."
	if !block {
		did = "Unblocked %s."
	}
	return s.makeChangeOf(ctx, s.findPerson, who, key, did, func(api *client.Client, person bridge.JID, key string) error {
		if block {
			return api.Block(ctx, person, key)
		}
		return api.Unblock(ctx, person, key)
	})
}

// SaveName saves a person's name in the account's address book, or removes the person from it if the name
// is empty.
func (s *Shell) SaveName(ctx context.Context, who, key string, name bridge.ContactName) error {
	person, err := s.findPerson(ctx, who)
	if err != nil {
		return err
	}
	did := fmt.Sprintf("Saved %s as %s.", person, name.Full)
	if name.Full == "" {
		did = fmt.Sprintf("Removed %s from the address book.", person)
	}
	return s.makeChange(ctx, key, did, func(api *client.Client, key string) error { return api.SaveName(ctx, person, name, key) })
}

// ShowTyping shows the account as typing or recording in a chat for some seconds, or ends that.
func (s *Shell) ShowTyping(ctx context.Context, who string, state bridge.TypingState) error {
	chat, err := s.find(ctx, who)
	if err != nil {
		return err
	}
	var answer client.Answer
	if err := s.API.Answering(&answer).ShowTyping(ctx, chat, state); err != nil {
		return err
	}
	return s.printDone(answer, "Shown as %s in %s.", state, chat)
}

// RequestHistory asks the phone for messages of a chat from before the stored ones, at most count of them; 0
// is the bridge's default.
func (s *Shell) RequestHistory(ctx context.Context, who string, count int) error {
	chat, err := s.find(ctx, who)
	if err != nil {
		return err
	}
	var answer client.Answer
	request, err := s.API.Answering(&answer).RequestHistory(ctx, chat, count)
	if err != nil {
		return err
	}
	return s.printDone(answer, "Asked the phone for up to %d messages of %s from before %s. They are stored when it answers.",
		request.Count, request.ChatJID, s.when(&request.Before.Timestamp))
}

// Transcribe prints the transcript of a message, or requests one and waits for it. It fails if there is none
// in time.
func (s *Shell) Transcribe(ctx context.Context, what Target, wait time.Duration) error {
	chat, err := s.chatOf(ctx, what)
	if err != nil {
		return err
	}
	cursor := ""
	if wait > 0 {
		if cursor, err = s.API.LastEvent(ctx); err != nil {
			return err
		}
	}
	var answer client.Answer
	request, err := s.API.Answering(&answer).Transcribe(ctx, chat, what.Message)
	switch {
	case err != nil:
		return err
	case request.Transcript == nil && wait > 0:
		return s.awaitTranscript(ctx, request, cursor, wait)
	case s.JSON:
		return s.printJSON(answer.Body)
	case request.Transcript != nil:
		return s.print("%s\n", PrintableLines(request.Transcript.Text))
	case request.WaitsUntil != nil:
		return s.note("The minutes of this month are used up: it is transcribed after %s.", s.when(request.WaitsUntil))
	}
	return s.note("A transcript was requested. Repeat the command to see it, or wait for it with --wait.")
}

// awaitTranscript follows the log until a message has a transcript, and prints it.
func (s *Shell) awaitTranscript(ctx context.Context, request bridge.TranscriptRequest, cursor string, wait time.Duration) error {
	waiting, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	query := client.EventQuery{After: cursor, Chats: []bridge.JID{request.ChatJID}, Types: []bridge.EventType{bridge.EventMessageUpdated}}
	for event, err := range s.API.Events(waiting, query) {
		if err != nil && waiting.Err() == nil {
			return err
		}
		if m := event.Message; m == nil || m.ID != request.MsgID || m.Transcript == nil {
			continue
		}
		if s.JSON {
			request.Transcript = event.Message.Transcript
			return s.printJSON(request)
		}
		return s.print("%s\n", PrintableLines(event.Message.Transcript.Text))
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return hinted(fmt.Errorf("there is no transcript within %s", wait), "repeat the command later: the request is still stored")
}
