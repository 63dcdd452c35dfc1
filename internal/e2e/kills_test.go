package e2e

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"bridged/internal/bridge"
	"bridged/internal/simnet"
)

var (
	killCount = flag.Int("kills", 4, "how often the program is killed under load; the goal's figure is 200")
	killRate  = flag.Int("kills.rate", 50, "messages a second while it is killed")
)

// TestKills_LoseAndDoubleNothing kills the real program at random moments under
// load, in direct chats and a group, with reactions, edits and deletions among the
// messages, and then compares the store with the messages sent.
func TestKills_LoseAndDoubleNothing(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Duration(*killCount)*10*time.Second+time.Minute)
	defer cancel()
	network := newNetwork(t)
	newcomer := func(number, name string) *simnet.Phone {
		return must(network.NewPhone(ctx, simnet.PhoneOptions{Number: number, Name: name}))(t)
	}
	owner, sam, kim := newcomer("15550100200", "Alex"), newcomer("15550100301", "Sam"), newcomer("15550100302", "Kim")
	group, err := owner.CreateGroup(ctx, simnet.GroupOptions{Subject: "Load", Members: []*simnet.Phone{sam, kim}})
	if err != nil {
		t.Fatal(err)
	}
	p := startBridge(t, network, "LOG_LEVEL=info")
	device := pair(t, p, owner)

	loading, stopLoad := context.WithCancel(ctx)
	load := &traffic{t: t, owner: owner, chats: []*trafficChat{
		{jid: bridge.PhoneJID(sam.Number()), to: owner.PN(), writers: []*simnet.Phone{sam}},
		{jid: bridge.PhoneJID(kim.Number()), to: owner.LID(), writers: []*simnet.Phone{kim}},
		{jid: bridge.JID(group.JID().String()), to: group.JID(), writers: []*simnet.Phone{sam, kim}},
	}}
	done := make(chan struct{})
	go func() {
		defer close(done)
		load.run(loading, *killRate)
	}()
	began := time.Now()
	var away []time.Duration
	for range *killCount {
		select {
		case <-time.After(time.Duration(50+rand.IntN(700)) * time.Millisecond):
		case <-ctx.Done():
			t.Fatal(ctx.Err())
		}
		p.kill()
		killed := time.Now()
		p.start()
		p.becomes(bridge.StateOpen)
		away = append(away, time.Since(killed))
	}
	stopLoad()
	<-done
	if err := device.WaitQuiet(ctx); err != nil {
		t.Fatal(err)
	}
	total, lost, doubled := 0, 0, 0
	for _, chat := range load.chats {
		l, d := chat.compare(t, p)
		total, lost, doubled = total+len(chat.sent), lost+l, doubled+d
	}
	slices.Sort(away)
	t.Logf("%d kills in %v, %d messages (and %d reactions, edits and deletions): lost %d, doubled %d; killed to open again: median %v, longest %v",
		*killCount, time.Since(began).Round(time.Second), total, load.changes, lost, doubled, away[len(away)/2].Round(time.Millisecond), away[len(away)-1].Round(time.Millisecond))
	if total == 0 {
		t.Error("nothing was sent")
	}
}

// traffic writes into chats and knows the expected content of the store.
type traffic struct {
	t       *testing.T
	owner   *simnet.Phone
	chats   []*trafficChat
	changes int
}

// trafficChat is one chat with everything written in it.
type trafficChat struct {
	jid     bridge.JID
	to      simnet.JID
	writers []*simnet.Phone
	sent    []*trafficMessage
}

type trafficMessage struct {
	id      string
	writer  *simnet.Phone
	content string
	emoji   string
	edited  bool
	deleted bool
}

func (l *traffic) run(ctx context.Context, rate int) {
	ticker := time.NewTicker(time.Second / time.Duration(rate))
	defer ticker.Stop()
	for n := 0; ; n++ {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		if err := l.write(n); err != nil && !errors.Is(err, context.Canceled) {
			l.t.Errorf("write message %d: %v", n, err)
			return
		}
	}
}

// write writes one message, and now and then changes an earlier one.
func (l *traffic) write(n int) error {
	ctx := context.Background()
	chat := l.chats[n%len(l.chats)]
	writer := chat.writers[(n/len(l.chats))%len(chat.writers)]
	m := &trafficMessage{writer: writer, content: fmt.Sprintf("message %d.", n)}
	id, err := writer.SendText(ctx, chat.to, m.content)
	if err != nil {
		return err
	}
	m.id = id
	chat.sent = append(chat.sent, m)
	earlier := chat.sent[rand.IntN(len(chat.sent))]
	if earlier.deleted {
		return nil
	}
	switch {
	case n%9 == 0:
		earlier.emoji = fmt.Sprintf("%c", '😀'+rune(n%40))
		_, err = writer.ReactTo(ctx, chat.to, earlier.writer.LID(), earlier.id, earlier.emoji)
	case n%13 == 0:
		earlier.edited, earlier.content = true, fmt.Sprintf("edited %d.", n)
		_, err = earlier.writer.Edit(ctx, chat.to, earlier.id, earlier.content)
	case n%17 == 0:
		earlier.deleted = true
		_, err = earlier.writer.Revoke(ctx, chat.to, earlier.id)
	default:
		return nil
	}
	l.changes++
	return err
}

// compare compares the stored chat with the written one: every message once, in
// order, with its last change.
func (c *trafficChat) compare(t *testing.T, p *process) (lost, doubled int) {
	t.Helper()
	stored := c.read(t, p)
	count := map[string]int{}
	var order []string
	for _, m := range stored {
		count[m.ID]++
		order = append(order, m.ID)
	}
	var want []string
	for _, m := range c.sent {
		want = append(want, m.id)
		switch count[m.id] {
		case 1:
		case 0:
			lost++
			t.Errorf("%s: message %s is lost", c.jid, m.id)
		default:
			doubled++
			t.Errorf("%s: message %s is there %d times", c.jid, m.id, count[m.id])
		}
	}
	if !slices.Equal(order, want) {
		t.Errorf("%s: the stored order is not the order of sending (%d stored, %d sent)", c.jid, len(order), len(want))
	}
	for i, m := range stored {
		if i < len(c.sent) && m.ID == c.sent[i].id {
			c.sent[i].compare(t, m)
		}
	}
	return lost, doubled
}

func (w *trafficMessage) compare(t *testing.T, m bridge.Message) {
	t.Helper()
	content, emoji := w.content, ""
	if w.deleted {
		content = ""
	}
	for _, r := range m.Reactions {
		emoji = r.Emoji // the later of possibly two writers
		if emoji == w.emoji {
			break
		}
	}
	if m.Content != content || (m.DeletedAt != nil) != w.deleted || !w.deleted && (m.EditedAt != nil) != w.edited || !w.deleted && emoji != w.emoji {
		t.Errorf("message %s: got content %q, reaction %q, edited %v, deleted %v; want %q, %q, %v, %v", w.id,
			m.Content, emoji, m.EditedAt != nil, m.DeletedAt != nil, content, w.emoji, w.edited, w.deleted)
	}
}

// read reads the whole chat by cursor.
func (c *trafficChat) read(t *testing.T, p *process) (all []bridge.Message) {
	t.Helper()
	for m, err := range p.api.AllMessages(within(t), bridge.MessageQuery{Chat: c.jid, Order: bridge.OrderAsc, Limit: 1000}) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, m)
	}
	return all
}
