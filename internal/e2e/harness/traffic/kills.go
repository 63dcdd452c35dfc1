package traffic

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"bridged/internal/bridge"
	. "bridged/internal/e2e/harness"
	"bridged/internal/simnet"
)

// Traffic writes into chats and knows the expected content of the store.
type Traffic struct {
	T       testing.TB
	Owner   *simnet.Phone
	Chats   []*TrafficChat
	Changes int
}

// TrafficChat is one chat with everything written in it.
type TrafficChat struct {
	JID     bridge.JID
	To      simnet.JID
	Writers []*simnet.Phone
	Sent    []*trafficMessage
}

type trafficMessage struct {
	id      string
	writer  *simnet.Phone
	Content string
	emoji   string
	edited  bool
	Deleted bool
}

func (l *Traffic) Run(ctx context.Context, rate int) {
	ticker := time.NewTicker(time.Second / time.Duration(rate))
	defer ticker.Stop()
	for n := 0; ; n++ {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		if err := l.Write(n); err != nil && !errors.Is(err, context.Canceled) {
			l.T.Errorf("write message %d: %v", n, err)
			return
		}
	}
}

// Write writes one message, and now and then changes an earlier one.
func (l *Traffic) Write(n int) error {
	ctx := context.Background()
	chat := l.Chats[n%len(l.Chats)]
	writer := chat.Writers[(n/len(l.Chats))%len(chat.Writers)]
	m := &trafficMessage{writer: writer, Content: fmt.Sprintf("message %d.", n)}
	id, err := writer.SendText(ctx, chat.To, m.Content)
	if err != nil {
		return err
	}
	m.id = id
	chat.Sent = append(chat.Sent, m)
	earlier := chat.Sent[rand.IntN(len(chat.Sent))]
	if earlier.Deleted {
		return nil
	}
	switch {
	case n%9 == 0:
		earlier.emoji = fmt.Sprintf("%c", '😀'+rune(n%40))
		_, err = writer.ReactTo(ctx, chat.To, earlier.writer.LID(), earlier.id, earlier.emoji)
	case n%13 == 0:
		earlier.edited, earlier.Content = true, fmt.Sprintf("edited %d.", n)
		_, err = earlier.writer.Edit(ctx, chat.To, earlier.id, earlier.Content)
	case n%17 == 0:
		earlier.Deleted = true
		_, err = earlier.writer.Revoke(ctx, chat.To, earlier.id)
	default:
		return nil
	}
	l.Changes++
	return err
}

// Compare compares the stored chat with the written one: every message once, in
// order, with its last change.
func (c *TrafficChat) Compare(t testing.TB, p *Process) (lost, doubled int) {
	t.Helper()
	stored := c.read(t, p)
	count := map[string]int{}
	var order []string
	for _, m := range stored {
		count[m.ID]++
		order = append(order, m.ID)
	}
	var want []string
	for _, m := range c.Sent {
		want = append(want, m.id)
		switch count[m.id] {
		case 1:
		case 0:
			lost++
			t.Errorf("%s: message %s is lost", c.JID, m.id)
		default:
			doubled++
			t.Errorf("%s: message %s is there %d times", c.JID, m.id, count[m.id])
		}
	}
	if !slices.Equal(order, want) {
		t.Errorf("%s: the stored order is not the order of sending (%d stored, %d sent)", c.JID, len(order), len(want))
	}
	for i, m := range stored {
		if i < len(c.Sent) && m.ID == c.Sent[i].id {
			c.Sent[i].compare(t, m)
		}
	}
	return lost, doubled
}

func (w *trafficMessage) compare(t testing.TB, m bridge.Message) {
	t.Helper()
	content, emoji := w.Content, ""
	if w.Deleted {
		content = ""
	}
	for _, r := range m.Reactions {
		emoji = r.Emoji // the later of possibly two writers
		if emoji == w.emoji {
			break
		}
	}
	if m.Content != content || (m.DeletedAt != nil) != w.Deleted || !w.Deleted && (m.EditedAt != nil) != w.edited || !w.Deleted && emoji != w.emoji {
		t.Errorf("message %s: got content %q, reaction %q, edited %v, deleted %v; want %q, %q, %v, %v", w.id,
			m.Content, emoji, m.EditedAt != nil, m.DeletedAt != nil, content, w.emoji, w.edited, w.Deleted)
	}
}

// read reads the whole chat by cursor.
func (c *TrafficChat) read(t testing.TB, p *Process) (all []bridge.Message) {
	t.Helper()
	for m, err := range p.API.AllMessages(Within(t), bridge.MessageQuery{Chat: c.JID, Order: bridge.OrderAsc, Limit: 1000}) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, m)
	}
	return all
}
