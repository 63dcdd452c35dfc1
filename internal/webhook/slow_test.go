package webhook

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"bridged/internal/bridge"
)

// chatOf returns one of many chats.
func chatOf(i int) bridge.JID { return bridge.JID(fmt.Sprintf("1555%07d@s.whatsapp.net", i)) }

// of answers one chat with the given status, and all others with 200.
func of(chat bridge.JID, status int) func(posted) int {
	return func(p posted) int {
		if p.payload.Data.ChatJID == chat {
			return status
		}
		return http.StatusOK
	}
}

// A chat whose posts hang delays no other chat, however many of its deliveries are pending.
func TestDispatcher_AHangingChatHoldsUpNoOther(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		r, w := b.receive("n8n")
		r.answers(of(grace, -1))
		b.say(grace, "A", 0, 10)
		for i := range 100 {
			b.say(alan, "B", i, i+1)
			synctest.Wait()
			want(t, "alan's, at once", r.accepted(alan), named("B", 0, i+1))
			time.Sleep(7 * time.Second)
		}
		r.answers(always(http.StatusOK))
		time.Sleep(longestPause + attemptTimeout + longestPause/5)
		want(t, "grace's", r.accepted(grace), named("A", 0, 10))
		if got := b.webhook(w.ID); got.Pending != 0 || got.Dead != 0 {
			t.Errorf("shown as %+v", got)
		}
	})
}

// Many chats whose posts hang leave room for other chats.
func TestDispatcher_ChatsThatHangLeaveRoom(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		r, _ := b.receive("n8n")
		r.answers(func(p posted) int {
			if strings.HasPrefix(p.about(), "H") {
				return -1
			}
			return http.StatusOK
		})
		const chats, more = 3 * parallel, 150
		for i := range chats {
			b.say(chatOf(i), "H", i, i+1)
		}
		for i := range more {
			b.say(alan, "B", i, i+1)
			time.Sleep(20 * time.Second)
		}
		hung, late := map[string]bool{}, time.Duration(0)
		for _, p := range r.took() {
			if p.status == -1 {
				hung[p.about()] = true
			} else if p.at.After(b.began.Add(2 * attemptTimeout)) {
				late = max(late, p.at.Sub(p.payload.Timestamp.Time))
			}
		}
		if got := len(r.accepted(alan)); got != more || late > time.Second || len(hung) != chats {
			t.Errorf("%d of alan's came, up to %v late; %d chats hung", got, late, len(hung))
		}
	})
}

// Each try posts the content that the read routes show at that moment.
func TestDispatcher_PostsWhatIsShownAtThatMoment(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		r, _ := b.receive("n8n")
		r.answers(always(-1))
		b.say(grace, "A", 0, 6)
		synctest.Wait()
		b.know(
			bridge.Deletion{Chat: grace, Target: "A0", By: grace, Timestamp: bridge.At(time.Now())},
			bridge.Deletion{Chat: grace, Target: "A3", By: grace, Timestamp: bridge.At(time.Now())},
			bridge.Edit{Chat: grace, Target: "A4", Editor: grace, Timestamp: bridge.At(time.Now()), New: edited(grace, "A4")})
		r.answers(always(http.StatusOK))
		time.Sleep(attemptTimeout + 2*firstPause)
		want(t, "delivered", r.accepted(""), named("A", 0, 6))
		for _, p := range r.took()[1:] {
			content := "text of " + p.about()
			switch p.about() {
			case "A0", "A3":
				content = ""
			case "A4":
				content = "edited"
			}
			if got := p.payload.Data.Message.Content; got != content {
				t.Errorf("%s was posted as %q", p.about(), got)
			}
		}
	})
}

func edited(chat bridge.JID, id string) bridge.Message {
	m := message(chat, id)
	m.Content = "edited"
	return m
}

// A delivery whose message is removed is neither posted nor pending.
func TestDispatcher_PostsNothingOfWhatIsGone(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		r, w := b.receive("n8n")
		r.answers(of(grace, http.StatusBadRequest))
		b.say(grace, "A", 0, 3)
		time.Sleep(time.Minute)
		if _, err := b.store.Retain(t.Context(), time.Now().Add(time.Hour)); err != nil {
			t.Fatal(err)
		}
		tried := len(r.took())
		b.say(alan, "B", 0, 1)
		time.Sleep(time.Hour)
		if got := b.webhook(w.ID); got.Pending != 0 || got.Dead != 0 || len(r.took()) != tried+1 {
			t.Errorf("%d posts more, shown as %+v", len(r.took())-tried, got)
		}
	})
}

// A slow body of an answer delays nothing.
func TestDispatcher_AnAnswerThatTricklesCostsNothing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		r, _ := b.receive("n8n")
		r.sends(func() io.ReadCloser { return &trickle{closed: make(chan struct{})} })
		b.say(grace, "A", 0, 20)
		time.Sleep(20 * 2 * drainTimeout)
		want(t, "delivered", r.accepted(""), named("A", 0, 20))
		r.sends(func() io.ReadCloser { return io.NopCloser(endless{}) })
		b.say(grace, "A", 20, 40)
		synctest.Wait()
		want(t, "delivered", r.accepted(""), named("A", 0, 40))
	})
}

// trickle gives a byte in ten seconds until it is closed.
type trickle struct{ closed chan struct{} }

func (b *trickle) Read(p []byte) (int, error) {
	select {
	case <-time.After(10 * time.Second):
		return 1, nil
	case <-b.closed:
		return 0, io.ErrClosedPipe
	}
}

func (b *trickle) Close() error {
	close(b.closed)
	return nil
}

// endless gives bytes as fast as they are read.
type endless struct{}

func (endless) Read(p []byte) (int, error) { return len(p), nil }

// A chat with many pending events is delivered completely and in order, also after a restart.
func TestDispatcher_DeliversALongQueueInOrder(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		r, w := b.receive("n8n")
		r.answers(always(-1))
		n := 2*pageSize + pageSize/2
		b.say(grace, "A", 0, n)
		time.Sleep(10 * time.Second)
		r.answers(always(http.StatusOK))
		time.Sleep(attemptTimeout + time.Minute)
		want(t, "delivered", r.accepted(""), named("A", 0, n))
		r.answers(always(http.StatusServiceUnavailable))
		b.say(grace, "B", 0, n)
		time.Sleep(time.Minute)
		b.stop()
		b.start()
		r.answers(always(http.StatusOK))
		time.Sleep(time.Minute)
		want(t, "after the start", r.accepted("")[n:], named("B", 0, n))
		if got := b.webhook(w.ID); got.Pending != 0 || got.Dead != 0 {
			t.Errorf("shown as %+v", got)
		}
	})
}
