package stream

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"bridged/internal/bridge"
)

// TestTyping_EndsByItself: who says nothing more has paused after a while, as in the apps, and what
// is repeated is told once.
func TestTyping_EndsByItself(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		live := NewLive(time.Now)
		const chat, anna, ben = bridge.JID("1203630@g.us"), bridge.JID("1@s.whatsapp.net"), bridge.JID("2@s.whatsapp.net")
		stream := live.open()
		defer stream.close()
		told := func(want ...string) {
			t.Helper()
			synctest.Wait()
			var got []string
			for _, event := range stream.take() {
				got = append(got, event.Typing.SenderJID.User()+" "+string(event.Typing.State))
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
		}
		live.NoteTyping(chat, anna, bridge.TypingPaused) // who did not type
		told()
		live.NoteTyping(chat, anna, bridge.TypingText)
		told("1 typing")
		time.Sleep(bridge.TypingTime / 2)
		live.NoteTyping(chat, anna, bridge.TypingText)
		live.NoteTyping(chat, ben, bridge.TypingVoice)
		told("2 recording")
		time.Sleep(bridge.TypingTime - time.Second)
		live.NoteTyping(chat, ben, bridge.TypingText)
		told("2 typing")
		time.Sleep(time.Second)
		told("1 paused")

		// A reader that comes later, or is slow, hears what is so now.
		late := live.open()
		defer late.close()
		if now := late.take(); len(now) != 1 || now[0].Typing.SenderJID != ben || now[0].ChatJID != chat {
			t.Errorf("a late reader hears %+v", now)
		}
		for range 100 {
			live.NoteTyping(chat, ben, bridge.TypingVoice)
			live.NoteTyping(chat, ben, bridge.TypingText)
		}
		live.NoteTyping(chat, ben, bridge.TypingPaused)
		told("2 paused")
		time.Sleep(time.Hour)
		told()
		if n := live.count(); n != 0 {
			t.Errorf("%d people still type", n)
		}
	})
}

// count returns how many people type.
func (l *Live) count() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.active)
}

// TestTyping_IsBounded: of too many people at once the later ones are not told.
func TestTyping_IsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		live := NewLive(time.Now)
		for i := range 2 * maxTyping {
			live.NoteTyping(bridge.PhoneJID(time.Duration(i).String()), "1@s.whatsapp.net", bridge.TypingText)
		}
		if n := live.count(); n != maxTyping {
			t.Errorf("%d people are kept", n)
		}
		time.Sleep(bridge.TypingTime)
		synctest.Wait()
		if n := live.count(); n != 0 {
			t.Errorf("%d people still type", n)
		}
	})
}
