package wa

import (
	"context"
	"sync"

	"bridged/internal/bridge"
)

// usernames are received usernames that are not stored yet, by number or LID. whatsmeow does not
// report usernames (see [session.Observer]).
type usernames struct {
	mu    sync.Mutex
	names map[bridge.JID]string // guarded by mu
}

// mostUsernames limits their number. Others are learned with the person's next message.
const mostUsernames = 1 << 16

func (u *usernames) add(found map[bridge.JID]string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for of, name := range found {
		u.put(of, name)
	}
}

// put adds a name. The caller holds mu.
func (u *usernames) put(of bridge.JID, name string) {
	if u.names == nil {
		u.names = make(map[bridge.JID]string)
	}
	if _, waits := u.names[of]; waits || len(u.names) < mostUsernames {
		u.names[of] = name
	}
}

// take removes the waiting usernames and returns them as facts.
func (u *usernames) take() []bridge.Fact {
	u.mu.Lock()
	defer u.mu.Unlock()
	facts := make([]bridge.Fact, 0, len(u.names))
	for of, name := range u.names {
		facts = append(facts, bridge.Contact{JID: of, Username: &name})
	}
	u.names = nil
	return facts
}

// putBack restores usernames that could not be stored, unless newer ones are waiting.
func (u *usernames) putBack(facts []bridge.Fact) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for _, fact := range facts {
		contact := fact.(bridge.Contact)
		if _, newer := u.names[contact.JID]; !newer {
			u.put(contact.JID, *contact.Username)
		}
	}
}

// learnUsernames records the usernames in a stanza before whatsmeow handles it. Usernames from
// messages and notifications are stored together with them, usernames from answers separately.
func (l *link) learnUsernames(found map[bridge.JID]string, isAnswer bool) {
	if !isAnswer {
		l.learned.add(found)
		return
	}
	if l.m.handlers.enter() {
		defer l.m.handlers.leave()
		l.answered.add(found)
		l.m.workers.Go(func() { l.saveAnswered(l.ctx) })
	}
}

// saveAnswered stores the usernames of all answers received before the call.
func (l *link) saveAnswered(ctx context.Context) {
	l.savingAnswered.Lock()
	defer l.savingAnswered.Unlock()
	l.saveAll(ctx, l.answered.take())
}
