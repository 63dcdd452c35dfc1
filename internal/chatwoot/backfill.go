package chatwoot

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"bridged/internal/bridge"
	"bridged/internal/client"
	"bridged/internal/compat/cloud"
)

// Backfill sends stored messages into an inbox. It can be repeated: each message has its id as source id, and a
// message that the inbox has is not sent again. Only one may run at a time for an inbox.
type Backfill struct {
	Bridge   *client.Client
	Chatwoot *Client
	Inbox    int64
	Status   string // of conversations that it creates

	Chats        []bridge.JID // all if empty
	Groups       bool         // also groups, as contacts
	Since, Until *bridge.Time // nil for all
	Files        bool         // also the files of messages
	MaxFile      int64        // bytes
	Pictures     bool         // of contacts that have none
	State        string       // a file for the progress; "" if none
	DryRun       bool         // only count

	Text func(bridge.Message) string // returns the text of a message
	Zone *time.Location              // of the times in notes
	Note func(text string) error     // gets the progress

	Own     bridge.JID // the account; set by Run
	inbox   inbox
	asNotes bool // creates private notes only
	result  Result
	state   *state
}

// Result counts the messages, files and contacts that were sent. A dry run counts those to send.
type Result struct {
	DryRun    bool `json:"dryRun"`
	Chats     int  `json:"chats"`    // with messages of the time
	Contacts  int  `json:"contacts"` // new ones
	Messages  int  `json:"messages"` // sent
	Present   int  `json:"present"`  // messages that the inbox had
	Files     int  `json:"files"`    // sent
	FilesLeft int  `json:"filesLeft"`
	Pictures  int  `json:"pictures"` // of contacts, sent
	Refused   int  `json:"refused"`  // messages and chats that Chatwoot does not take
	ChatsLeft int  `json:"chatsLeft"`
}

// Run sends the history. Its result is also set if it fails.
func (b *Backfill) Run(ctx context.Context) (Result, error) {
	b.result = Result{DryRun: b.DryRun}
	token, err := b.Bridge.OwnToken(ctx)
	if err != nil {
		return b.result, err
	}
	if token.Account == nil {
		return b.result, refuse("the bridge has no account: pair one first with: bridged pair")
	}
	b.Own = token.Account.JID
	if err := b.check(ctx); err != nil {
		return b.result, err
	}
	path := b.State
	if b.DryRun {
		path = ""
	}
	if b.state, err = openState(path, fmt.Sprintf("%s/inboxes/%d %s", b.Chatwoot.base, b.Inbox, b.Own)); err != nil {
		return b.result, err
	}
	if err := b.sendAll(ctx); err != nil {
		return b.result, err
	}
	return b.result, b.state.end()
}

func (b *Backfill) sendAll(ctx context.Context) error {
	chats, err := b.chats(ctx)
	if err != nil {
		return err
	}
	done := b.state.doneAll()
	for _, chat := range chats {
		switch {
		case slices.Contains(done, chat.JID):
			continue
		case cloud.ContactID(chat.JID) == "" || chat.JID == b.Own:
			b.result.ChatsLeft++
			continue
		}
		if err := b.sendChat(ctx, chat); err != nil {
			return fmt.Errorf("%s: %w", nameOf(chat), err)
		}
		if err := b.state.setDone(chat.JID); err != nil {
			return err
		}
	}
	return nil
}

// chats returns the chats to send, all at once, because a chat with a new message moves to the front of the list.
func (b *Backfill) chats(ctx context.Context) (chats []bridge.Chat, err error) {
	for _, jid := range b.Chats {
		chat, err := b.Bridge.Chat(ctx, jid)
		if err != nil {
			return nil, err
		}
		chats = append(chats, chat)
	}
	if len(b.Chats) > 0 {
		return chats, nil
	}
	query := bridge.ChatQuery{Type: bridge.ChatsIndividual, Limit: pageSize}
	if b.Groups {
		query.Type = bridge.ChatsAll
	}
	for chat, err := range b.Bridge.AllChats(ctx, query) {
		if err != nil {
			return nil, err
		}
		chats = append(chats, chat)
	}
	return chats, nil
}

const pageSize = 200 // of lists of the bridge

// sendChat sends the messages of a chat that its conversation lacks. Of a chat without messages of the time,
// Chatwoot is asked nothing.
func (b *Backfill) sendChat(ctx context.Context, chat bridge.Chat) error {
	if b.Since != nil && chat.LastMessageAt != nil && chat.LastMessageAt.Before(b.Since.Time) {
		return nil
	}
	t := &thread{Backfill: b, chat: chat, id: cloud.ContactID(chat.JID), seen: make(map[string]bool)}
	query := bridge.MessageQuery{Chat: chat.JID, Since: b.Since, Until: b.Until, Order: bridge.OrderAsc, Limit: pageSize}
	isOpen := false
	for m, err := range b.Bridge.AllMessages(ctx, query) {
		if err != nil {
			return err
		}
		if m.DeletedAt != nil { // for everyone
			continue
		}
		if !isOpen {
			err := t.open(ctx)
			if isUnacceptable(err) {
				b.result.Refused++
				return b.Note(fmt.Sprintf("%s is left out: %v", nameOf(chat), err))
			}
			if err != nil {
				return err
			}
			isOpen = true
			b.result.Chats++
		}
		if err := t.send(ctx, m); err != nil {
			return err
		}
	}
	if !isOpen {
		return nil
	}
	verb := "sent"
	if b.DryRun {
		verb = "to send"
	}
	return b.Note(fmt.Sprintf("%s: %d messages %s, %d were there", nameOf(chat), t.sent, verb, t.present))
}

// thread is a chat with its conversation in Chatwoot.
type thread struct {
	*Backfill
	chat         bridge.Chat
	id           string // of the contact, in digits
	conversation int64  // 0 before it exists, in a dry run
	private      bool   // gets private notes only
	seen         map[string]bool
	last         int64 // the id of the last message of the conversation that was seen

	sent, present int
}

// historyPrefix begins the source ids of messages that were sent by a backfill. Chatwoot drops a message that
// arrives live if another one has its id, so the ids differ.
const historyPrefix = "bridged:"

var errNoSourceIDs = errors.New("this version of Chatwoot does not store the source ids of messages, so doubles could not be recognised: update Chatwoot")

// send sends a message, unless the inbox has it from an earlier run or from the live connection.
func (t *thread) send(ctx context.Context, m bridge.Message) error {
	id := historyPrefix + cloud.MessageID(t.chat.JID, &m)
	switch {
	case t.has(m):
		t.present++
		t.result.Present++
		return nil
	case t.DryRun:
		return t.count(t.Files && m.Media != nil && m.Media.Size <= t.MaxFile)
	}
	out := message{Content: t.content(m), Incoming: !t.private && !m.FromMe, Private: t.private, SourceID: id, At: m.Timestamp.Unix()}
	if t.Files && m.Media != nil {
		file, err := t.download(ctx, m)
		if err != nil {
			return err
		}
		if file != nil {
			defer file.close()
			out.File = file.formFile
		}
	}
	err := t.create(ctx, out)
	if isUnacceptable(err) && out.File != nil { // the file is too large, or of a type that Chatwoot refuses
		out.File = nil
		t.result.FilesLeft++
		err = t.create(ctx, out)
	}
	if isUnacceptable(err) {
		t.result.Refused++
		return t.Note(fmt.Sprintf("%s: a message of %s is left out: %v", nameOf(t.chat), m.Timestamp, err))
	}
	if err != nil {
		return err
	}
	t.seen[id] = true
	return t.count(out.File != nil)
}

// has reports whether the inbox has a message. Its id names the chat, which may have been known by its LID only.
func (t *thread) has(m bridge.Message) bool {
	return slices.ContainsFunc([]bridge.JID{t.chat.JID, t.chat.LID}, func(chat bridge.JID) bool {
		live := cloud.MessageID(chat, &m)
		return t.seen[live] || t.seen[historyPrefix+live]
	})
}

// isUnacceptable reports whether Chatwoot refuses a message because of its content.
func isUnacceptable(err error) bool {
	return isRefused(err) && (isStatus(err, http.StatusUnprocessableEntity) || isStatus(err, http.StatusBadRequest) || isStatus(err, http.StatusRequestEntityTooLarge))
}

// noteEvery is the number of messages of a chat after which the progress is noted.
const noteEvery = 100

// count counts a message that was sent.
func (t *thread) count(withFile bool) error {
	t.sent++
	t.result.Messages++
	if withFile {
		t.result.Files++
	}
	if t.sent%noteEvery == 0 && !t.DryRun {
		return t.Note(fmt.Sprintf("%s: %d messages sent …", nameOf(t.chat), t.sent))
	}
	return nil
}

// create creates a message once. A version of Chatwoot that does not store its source id would make doubles, so
// the message is removed again and the run ends.
func (t *thread) create(ctx context.Context, m message) error {
	var made stored
	err := t.Chatwoot.once(ctx, func() (err error) {
		made, err = t.Chatwoot.createMessage(ctx, t.conversation, m)
		return err
	}, func() (bool, error) {
		made = stored{SourceID: m.SourceID}
		err := t.look(ctx)
		return t.seen[m.SourceID], err
	})
	if err != nil {
		return err
	}
	if made.SourceID != m.SourceID {
		return errors.Join(errNoSourceIDs, t.Chatwoot.deleteMessage(ctx, t.conversation, made.ID))
	}
	t.last = max(t.last, made.ID)
	return nil
}

// look reads the messages of the conversation that were created after the last look.
func (t *thread) look(ctx context.Context) error {
	return t.Chatwoot.messages(ctx, t.conversation, t.last, func(m stored) {
		t.seen[m.SourceID] = true
		t.last = max(t.last, m.ID)
	})
}
