package wa

import (
	"context"
	"fmt"
	"runtime/debug"
	"sync"
	"time"

	"go.mau.fi/whatsmeow/appstate"
	"go.mau.fi/whatsmeow/types/events"

	"bridged/internal/bridge"
	"bridged/internal/wa/convert"
	"bridged/internal/wa/session"
)

// saveTimeout limits one transaction of the store.
const saveTimeout = 30 * time.Second

// handle receives all events of the socket. It returns whether the stanza may be acknowledged. It
// recovers from its own panics, because whatsmeow counts a panicking handler as success. It sends
// no queries to the network, because stanzas are handled one at a time.
func (l *link) handle(evt any) (stored bool) {
	defer func() {
		if !stored && session.IsAcknowledgedAnyway(evt) {
			l.abort()
		}
	}()
	if !l.m.handlers.enter() {
		return false
	}
	defer l.m.handlers.leave()
	defer func() {
		if r := recover(); r != nil {
			l.m.log.Error().Str("event", fmt.Sprintf("%T", evt)).Str("panic", bridge.Redact(fmt.Sprint(r))).
				Bytes("stack", debug.Stack()).Msg("panic in an event handler")
			stored = l.refuse(fmt.Errorf("panic while handling %T", evt))
		}
	}()
	m := l.m
	l.cli.Reached(evt)
	_, at := stanzaOf(evt)
	m.opts.Clock.Confirm(at)
	if at := fromPhone(evt); !at.IsZero() {
		m.sawPhone(at)
	}
	switch e := evt.(type) {
	// Facts are stored, then acknowledged.
	case *events.Message:
		m.noteTyping(e.Info.MessageSource, bridge.TypingPaused)
		plainer := func() []bridge.Fact { return convert.UnreadableFacts(e, m.currentUser().JID) }
		return l.saveAndFollowUp(l.read(evt, func() []bridge.Fact { return l.messageFacts(e) }, plainer))
	case *events.UndecryptableMessage:
		return l.saveAndFollowUp(l.read(evt, func() []bridge.Fact { return convert.PlaceholderFacts(e, m.currentUser().JID) }, nil))
	case notDecrypted:
		facts := l.read(evt, func() []bridge.Fact { return convert.PlaceholderFacts(e.UndecryptableMessage, m.currentUser().JID) }, nil)
		if e.last {
			return l.saveAndFollowUp(facts)
		}
		return l.save(facts) // whatsmeow emits it again
	case *events.Receipt:
		stored := l.saveAndFollowUp(l.read(evt, func() []bridge.Fact { return convert.ReceiptFacts(e) }, nil))
		if stored {
			m.ReceiptsStored(e.MessageIDs)
		}
		return stored
	case *events.JoinedGroup:
		own, _ := m.own()
		return l.saveAndFollowUp(l.read(evt, func() []bridge.Fact { return convert.JoinedFacts(e, own) }, nil))
	case *events.GroupInfo:
		return l.saveAndFollowUp(l.read(evt, func() []bridge.Fact { return l.groupChangeFacts(e) }, nil)) && l.followMembers(e)
	case *events.CallOffer, *events.CallOfferNotice, *events.CallAccept, *events.CallReject, *events.CallTerminate:
		return l.saveAndFollowUp(l.read(evt, func() []bridge.Fact { return l.callFacts(evt) }, nil))
	case *events.PushName:
		return l.saveAndFollowUp([]bridge.Fact{bridge.Contact{JID: convert.JID(e.JID), PushName: &e.NewPushName}})
	case *events.BusinessName:
		return l.saveAndFollowUp([]bridge.Fact{bridge.Contact{JID: convert.JID(e.JID), BusinessName: &e.NewBusinessName}})
	case *events.Contact:
		return l.saveNames(convert.ContactFacts(e))
	case session.Moved:
		return l.saveAndFollowUp([]bridge.Fact{bridge.IdentityChange(e)}) && l.follow(e)
	case session.UsernameChanged:
		return l.saveAndFollowUp(l.usernameFacts(e))
	case *events.Blocklist:
		if len(e.Changes) == 0 { // it only says that something has changed
			m.workers.Go(l.readBlocklist)
		}
		return l.saveAndFollowUp(convert.BlockFacts(e))
	case *events.AppState:
		return l.saveNames(convert.LIDContactFacts(e.Index, e.SyncActionValue))
	case *events.MarkChatAsRead:
		return l.saveAndFollowUp(convert.MarkFacts(e))
	case *events.Archive, *events.Pin, *events.Mute:
		return l.saveSettings(convert.ChatSettingFacts(evt))
	case *events.Star:
		own, _ := m.own()
		return l.saveAndFollowUp(convert.StarFacts(e, own))
	case *events.LabelEdit, *events.LabelAssociationChat, *events.LabelAssociationMessage:
		own, _ := m.own()
		return l.saveAndFollowUp(convert.LabelFacts(evt, own))
	case *events.DeleteForMe:
		return l.saveAndFollowUp([]bridge.Fact{bridge.RemovedElsewhere{Chat: convert.JID(e.ChatJID), Target: convert.ID(e.MessageID)}})
	case *events.DeleteChat:
		return l.saveAndFollowUp([]bridge.Fact{bridge.RemovedElsewhere{Chat: convert.JID(e.JID)}})
	case *events.ClearChat:
		return l.saveAndFollowUp([]bridge.Fact{bridge.RemovedElsewhere{Chat: convert.JID(e.JID)}})

	// These events are about the connection.
	case *events.Connected:
		m.endBan() // here, because the supervisor may receive this login after the refusal of a later one
		l.connected()
	case *events.Disconnected:
		l.notify(notice{kind: noticeDisconnected})
	case *events.KeepAliveTimeout:
		l.silent()
	case *events.StreamReplaced:
		// Remedy: find the second program with this session, which often runs on a copy of the data
		// directory, and stop it. Then run `bridged reconnect`.
		l.notify(notice{kind: noticeHalted, sentence: "another client took over this session: stop it, then POST /api/auth/reconnect or restart"})
	case *events.TemporaryBan:
		l.notify(m.banned(e))
	case *events.ClientOutdated:
		l.notify(notice{kind: noticeOutdated})
	case *events.LoggedOut:
		l.notify(notice{kind: noticeLoggedOut, sentence: loggedOutSentence(e, time.Now())})
	case *events.ConnectFailure:
		l.notify(notice{
			kind: noticeRefusedLogin, after: refusedPause,
			// Remedy: usually nothing, because bridged tries again. `bridged reconnect` tries at once.
			sentence: fmt.Sprintf("the network refused the login (code %d): trying again in an hour", e.Reason),
		})
	case *events.StreamError:
		l.notify(notice{kind: noticeSilent, sentence: fmt.Sprintf("the network ended the connection (code %s); reconnecting", e.Code)})

	// These events are about pairing.
	case *events.QR, *events.RotateADVSecret, *events.PairSuccess, *events.PairError, *events.ManualLoginReconnect, *events.QRScannedWithoutMultidevice,
		*events.PairPasskeyRequest, *events.PairPasskeyConfirmation, *events.PairPasskeyError:
		if p := m.currentPairing(l); p != nil {
			p.onEvent(evt)
		} else if _, again := evt.(*events.ManualLoginReconnect); again {
			l.notify(notice{kind: noticeRelogin, sentence: "the network wants the account to log in again; reconnecting"})
		}

	// These events are about the account.
	case *events.PushNameSetting:
		m.setPushName(e.Action.GetName())
		m.workers.Go(l.stayUnavailable)
	case *events.AppStateSyncError:
		m.sync.fail(e.Name, e.FullSync)
	case *events.AppStateSyncComplete:
		l.synced(e)
	case *events.NotifyAccountReachoutTimelock:
		m.noteTimelock(e)
	case session.Quota:
		m.noteQuota(e, false)
	case session.DefaultTimer:
		m.noteDefaultTimer(e)
	case session.Dirty:
		l.readAgain(e)
	case session.Registration:
		m.noteRegistration(e)
	case *events.MediaRetry:
		m.Reuploaded(e)
	case *events.ChatPresence:
		m.noteTyping(e.MessageSource, convert.TypingState(e))
	case *events.UserAbout:
		if of := convert.JID(e.JID); of.IsPerson() {
			m.ForgetProfile(of)
		}
	case *events.Picture:
		if of := convert.JID(e.JID); of != "" && m.opts.PictureChanged != nil {
			m.opts.PictureChanged(of)
		}
		return l.saveAndFollowUp(l.read(e, func() []bridge.Fact { return convert.PictureFacts(e) }, nil))
	}
	return true
}

// read converts a stanza with facts, or with plainer if facts panics: a refused malformed message
// would be received again forever and block the following ones.
func (l *link) read(evt any, facts, plainer func() []bridge.Fact) (found []bridge.Fact) {
	defer func() {
		if r := recover(); r != nil {
			l.m.log.Error().Str("event", fmt.Sprintf("%T", evt)).Str("panic", bridge.Redact(fmt.Sprint(r))).
				Bytes("stack", debug.Stack()).Msg("panic while reading a stanza")
			found = nil
			if plainer != nil {
				found = plainer()
			}
		}
	}()
	return facts()
}

// saveAndFollowUp saves the facts of one stanza and starts the work that follows from them.
func (l *link) saveAndFollowUp(facts []bridge.Fact) bool {
	if !l.save(facts) {
		return false
	}
	l.m.traffic.stored(facts)
	l.m.Groups.Want(facts)
	l.m.noteRinging(facts)
	l.m.History.Want(facts)
	return true
}

// save saves the facts of one stanza in one transaction, one stanza at a time: while the store is
// slow, the next connection may receive the stanza again, and others after it.
func (l *link) save(facts []bridge.Fact) bool {
	l.m.saving.Lock()
	defer l.m.saving.Unlock()
	if l.refusing.Load() {
		return false
	}
	// whatsmeow's own data of the stanza must not be lost either.
	if err := l.m.opts.Watch.Check(); err != nil {
		return l.refuse(err)
	}
	if l.m.leaseRefusal() != nil {
		return l.leaveUnacknowledged()
	}
	if len(facts) == 0 {
		return true
	}
	ctx, cancel := context.WithTimeout(l.m.background, saveTimeout)
	defer cancel()
	known := l.learned.take()
	if err := l.m.store.Save(ctx, append(known, facts...)...); err != nil {
		l.learned.putBack(known)
		return l.refuse(err)
	}
	l.m.refusals.Store(0)
	return true
}

// refuse leaves a stanza unacknowledged and closes the connection: the network sends it again
// only on the next one. The pauses grow while the store fails.
func (l *link) refuse(cause error) bool {
	if l.refusing.Swap(true) {
		return false
	}
	m := l.m
	m.storeLags.Store(true)
	wait := pause(int(m.refusals.Add(1)), 0)
	m.log.Error().Err(cause).Dur("retry_in", wait).Msg("cannot store a stanza; it is not acknowledged")
	l.notify(notice{
		kind: noticeRefused, after: wait,
		// Remedy: follow the rest of the sentence: free space, make the volume writable (user 65532
		// in the image), restore a damaged file. No message is lost.
		sentence: "a message could not be stored; the network sends it again: " + reasonOf(session.Explain(cause)),
	})
	return false
}

func loggedOutSentence(e *events.LoggedOut, now time.Time) string {
	on := bridge.At(now).String()
	switch e.Reason {
	case events.ConnectFailureMainDeviceGone:
		return "the account is locked, or moved to another phone (" + on + "): open WhatsApp on the phone, then pair again"
	case events.ConnectFailureUnknownLogout:
		return "the account was logged out by the network, perhaps banned (" + on + "): open WhatsApp on the phone, then pair again"
	}
	// Remedy: pair again. The device was removed on the phone, or the phone was off for 14 days;
	// messages stay.
	return "unlinked from the phone on " + on + "; pair again"
}

// synced saves the result of a full sync of the account's own state; whatsmeow emits no events
// for its entries. The push name is read in the goroutine that wrote it.
func (l *link) synced(e *events.AppStateSyncComplete) {
	switch e.Name {
	case appstate.WAPatchCriticalBlock:
		if name := l.cli.PushName(); name != "" {
			l.m.setPushName(name)
		}
		l.m.workers.Go(l.stayUnavailable)
	case appstate.WAPatchRegularLow, appstate.WAPatchRegularHigh, appstate.WAPatchRegular:
		l.m.workers.Go(func() {
			ctx, cancel := context.WithTimeout(l.ctx, catchUpTimeout)
			defer cancel()
			l.catchUpShared(ctx, func() {
				l.catchUpSettings(ctx)
				l.catchUpMarks(ctx, e.Name)
			})
		})
	case appstate.WAPatchCriticalUnblockLow:
		l.m.workers.Go(func() {
			ctx, cancel := context.WithTimeout(l.ctx, catchUpTimeout)
			defer cancel()
			l.catchUpShared(ctx, func() { l.catchUpPeople(ctx) })
		})
	}
}

// stayUnavailable marks the account as unavailable, so that the phone keeps ringing. It needs a
// push name, which a new session gets with the first sync.
func (l *link) stayUnavailable() {
	if l.m.currentUser().PushName == "" {
		return
	}
	if err := l.cli.RestPresence(l.ctx); err != nil && l.cli.LoggedIn() {
		l.m.log.Debug().Str("error", bridge.Redact(err.Error())).Msg("cannot send presence")
	}
}

// notDecrypted is a message that whatsmeow could not decrypt and has not answered yet.
type notDecrypted struct {
	*events.UndecryptableMessage
	last bool // whatsmeow emits no event for it
}

func (l *link) onUndecrypted(e *events.UndecryptableMessage, last bool) {
	if l.ctx.Err() == nil && !l.handle(notDecrypted{e, last}) { // otherwise whatsmeow does not acknowledge it
		l.abort()
	}
}

// learnIdentities saves mappings in a separate transaction; after an error, the next login does.
func (m *Manager) learnIdentities(found []bridge.Identity) {
	facts := make([]bridge.Fact, len(found))
	for i, identity := range found {
		facts[i] = identity
	}
	if err := m.store.Save(m.background, facts...); err != nil {
		m.storeLags.Store(true)
		m.log.Warn().Err(err).Int("mappings", len(found)).Msg("cannot store identities")
	}
}

// gate lets goroutines enter until it is shut. Shutting waits for the goroutines inside, because
// whatsmeow does not wait for its own, and some of them run handlers.
type gate struct {
	mu     sync.RWMutex
	closed bool // guarded by mu
}

// enter returns false if the gate is shut. Otherwise leave must be called.
func (g *gate) enter() bool {
	g.mu.RLock()
	if g.closed {
		g.mu.RUnlock()
		return false
	}
	return true
}

func (g *gate) leave() { g.mu.RUnlock() }

func (g *gate) shut() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.closed = true
}
