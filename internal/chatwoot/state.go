package chatwoot

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"

	"bridged/internal/bridge"
)

// state is the progress of a run in a file. After an interruption the next run continues with the unfinished chat.
// The file only saves time, because messages that were sent are recognised in the inbox. A nil state stores nothing.
type state struct {
	path string

	Target        string               `json:"target"`        // the inbox and the account
	Conversations map[bridge.JID]int64 `json:"conversations"` // of the chats
	Done          []bridge.JID         `json:"done"`          // chats, by a run that did not end
}

// openState reads the file of a state, which need not exist. It returns nil if path is empty.
func openState(path, target string) (*state, error) {
	s := &state{path: path, Target: target, Conversations: make(map[bridge.JID]int64)}
	if path == "" {
		return nil, nil
	}
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return s, s.save() // before anything is sent
	}
	var stored state
	if err == nil {
		err = json.Unmarshal(data, &stored)
	}
	switch {
	case err != nil:
		return nil, refuse("%s cannot be read: %v; name another file, or remove it: it is not needed to recognise doubles", path, err)
	case stored.Target != target:
		return nil, refuse("%s belongs to another inbox or account (%s): name another file", path, bridge.Beginning(stored.Target, 100))
	case stored.Conversations != nil:
		s.Conversations = stored.Conversations
	}
	s.Done = stored.Done
	return s, nil
}

// conversation returns the conversation of a chat, or 0 if none is known.
func (s *state) conversation(chat bridge.JID) int64 {
	if s == nil {
		return 0
	}
	return s.Conversations[chat]
}

// doneAll returns the chats that a run which did not end has finished.
func (s *state) doneAll() []bridge.JID {
	if s == nil {
		return nil
	}
	return s.Done
}

func (s *state) setConversation(chat bridge.JID, id int64) error {
	if s == nil || s.Conversations[chat] == id {
		return nil
	}
	s.Conversations[chat] = id
	return s.save()
}

func (s *state) setDone(chat bridge.JID) error {
	if s == nil {
		return nil
	}
	s.Done = append(s.Done, chat)
	return s.save()
}

// end removes the progress of a run that is complete.
func (s *state) end() error {
	if s == nil {
		return nil
	}
	s.Done = nil
	return s.save()
}

// save replaces the file. A kill leaves the old content or the new one.
func (s *state) save() error {
	data, err := json.MarshalIndent(s, "", "\t")
	if err != nil {
		return err
	}
	next := s.path + ".new"
	if err := os.WriteFile(next, append(data, '\n'), 0o600); err != nil {
		return refuse("the progress cannot be stored: %v; name another file with --state", err)
	}
	if err := os.Rename(next, s.path); err != nil {
		return errors.Join(refuse("the progress cannot be stored: %v; name another file with --state", err), os.Remove(next))
	}
	return nil
}
