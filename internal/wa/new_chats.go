package wa

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"bridged/internal/bridge"
	"bridged/internal/wa/session"
)

// settingQuota is what the network said last of its limit of new chats, as JSON.
const settingQuota = "new_chat_quota"

// quotaPause separates two queries for the limit of new chats, as in WhatsApp Web. A refusal
// counts as long if the network does not name the cycle's end.
const quotaPause = time.Hour

// knownQuota is what the network said last of its limit of new chats.
type knownQuota struct {
	session.Quota
	NotedAt   time.Time
	RefusedAt time.Time // when a message was refused with code 475; zero if none was
}

// cappedUntil returns until when the network refuses new chats; a time in the past if it
// does not.
func (k knownQuota) cappedUntil() (until time.Time) {
	if !k.RefusedAt.IsZero() {
		until = k.RefusedAt.Add(quotaPause)
	}
	if k.Status != bridge.QuotaCapped {
		return until
	}
	end := k.NotedAt.Add(quotaPause)
	if k.CycleEndsAt != nil {
		end = k.CycleEndsAt.Time
	}
	if end.After(until) {
		return end
	}
	return until
}

// at returns the limit at a time; nil if there is none, or its cycle is over.
func (k knownQuota) at(now time.Time) *bridge.NewChatQuota {
	shown := k.NewChatQuota
	switch capped := now.Before(k.cappedUntil()); {
	case capped:
		shown.Status = bridge.QuotaCapped
		if shown.Total != nil {
			shown.Used = shown.Total
		}
	case k.NotedAt.IsZero(), k.IsNone, k.Status == bridge.QuotaCapped, k.CycleEndsAt != nil && !now.Before(k.CycleEndsAt.Time):
		return nil
	}
	return &shown
}

// quota is the network's limit of the chats that the account begins.
type quota struct {
	mu     sync.Mutex // guards the fields below
	known  knownQuota
	asked  time.Time // when the network was last asked
	failed bool      // the last query failed
	shown  string    // its sentence in the status
}

// present returns the limit; nil if none is known.
func (q *quota) present() *bridge.NewChatQuota {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.known.at(time.Now())
}

// left returns how long the network refuses new chats; 0 if it does not.
func (q *quota) left() time.Duration {
	q.mu.Lock()
	defer q.mu.Unlock()
	return max(0, time.Until(q.known.cappedUntil()))
}

// show returns the sentence of the status while new chats are refused, and a sentence that
// has to go.
func (q *quota) show() (sentence, over string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if until := q.known.cappedUntil(); time.Now().Before(until) {
		used := "this cycle's new chats are used up"
		if total := q.known.Total; total != nil {
			used = fmt.Sprintf("the %d new chats of this cycle are used up", *total)
		}
		sentence = "the network does not let this account start new chats until " + bridge.At(until).String() + ", because " + used +
			": chats that have begun, and people who have written to it, are not affected"
	}
	if q.shown != sentence {
		over, q.shown = q.shown, sentence
	}
	return sentence, over
}

// change changes what is known, and returns it with the limit before and after.
func (q *quota) change(change func(k *knownQuota, now time.Time)) (known knownQuota, before, after *bridge.NewChatQuota) {
	q.mu.Lock()
	defer q.mu.Unlock()
	now := time.Now()
	before = q.known.at(now)
	change(&q.known, now)
	return q.known, before, q.known.at(now)
}

// isDue reports whether it is time to ask the network, and notes that it is asked.
func (q *quota) isDue() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	now, end := time.Now(), q.known.CycleEndsAt
	isNewCycle := end != nil && now.After(end.Time) && q.asked.Before(end.Time)
	if now.Sub(q.asked) < quotaPause && !isNewCycle {
		return false
	}
	q.asked = now
	return true
}

// forgetQuery has the next look ask the network again.
func (q *quota) forgetQuery() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.asked = time.Time{}
}

// setFailed notes whether a query failed, and reports whether the query before did.
func (q *quota) setFailed(failed bool) (before bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	before, q.failed = q.failed, failed
	return before
}

// noteQuota stores the network's report. Reports may overtake each other. A query does not
// end a refusal that is younger than an hour, which the network seems to know nothing of.
func (m *Manager) noteQuota(report session.Quota, isAnswer bool) {
	m.changeQuota(func(k *knownQuota, now time.Time) {
		if !report.SentAt.IsZero() && report.SentAt.Before(k.SentAt) {
			return
		}
		refused := k.RefusedAt
		*k = knownQuota{Quota: report, NotedAt: now}
		if isAnswer && now.Sub(refused) < quotaPause {
			k.RefusedAt = refused
		}
	})
}

// newChatRefused notes that the network refused a message with code 475, and asks for the
// limit.
func (m *Manager) newChatRefused() {
	m.changeQuota(func(k *knownQuota, now time.Time) {
		if k.CycleEndsAt != nil && !now.Before(k.CycleEndsAt.Time) {
			k.CycleStartsAt, k.CycleEndsAt = nil, nil // a new cycle has begun
		}
		k.Status, k.IsNone, k.NotedAt, k.RefusedAt = bridge.QuotaCapped, false, now, now
	})
	if l, err := m.open(); err == nil {
		m.workers.Go(l.askQuota)
	}
}

func (m *Manager) changeQuota(change func(k *knownQuota, now time.Time)) {
	known, before, after := m.quota.change(change)
	encoded, err := json.Marshal(known)
	if err != nil {
		m.log.Error().Err(err).Msg("the limit of new chats was not encoded")
		return
	}
	m.keepSetting(settingQuota, string(encoded))
	m.showQuota()
	if quotaStatus(before) == quotaStatus(after) {
		return
	}
	event := m.log.Info().Str("status", string(quotaStatus(after)))
	if after != nil && after.Used != nil && after.Total != nil {
		event.Int("used", *after.Used).Int("total", *after.Total)
	}
	event.Msg("the network's limit of new chats has changed")
	if quotaStatus(after) != bridge.QuotaCapped && quotaStatus(before) != bridge.QuotaCapped { // else showQuota has
		m.announce("")
	}
}

func quotaStatus(q *bridge.NewChatQuota) bridge.QuotaStatus {
	if q == nil {
		return bridge.QuotaFree
	}
	return q.Status
}

// showQuota shows in the status that new chats are refused, while the account is open.
func (m *Manager) showQuota() { m.showRestriction(m.quota.show()) }

// loadQuota reads what the network said of new chats in an earlier run.
func (m *Manager) loadQuota(ctx context.Context) error {
	encoded, err := m.store.Setting(ctx, settingQuota)
	if err != nil || encoded == "" {
		return err
	}
	var known knownQuota
	if err := json.Unmarshal([]byte(encoded), &known); err != nil {
		m.log.Warn().Err(err).Msg("the stored limit of new chats is unreadable")
		return nil // as if there was none
	}
	m.quota.change(func(k *knownQuota, _ time.Time) { *k = known })
	return nil
}

// checkQuota asks for the limit of new chats if that is due.
func (l *link) checkQuota() {
	if l.m.quota.isDue() {
		l.m.workers.Go(l.askQuota)
	}
}

// askQuota asks the network for its limit of new chats. A query that fails changes nothing.
func (l *link) askQuota() {
	ctx, cancel := context.WithTimeout(l.ctx, catchUpTimeout)
	defer cancel()
	report, err := l.cli.NewChatQuota(ctx)
	if err == nil {
		l.m.quota.setFailed(false)
		l.m.noteQuota(report, true)
		return
	}
	if l.ctx.Err() != nil || !l.cli.LoggedIn() {
		l.m.quota.forgetQuery()
		return
	}
	event := l.m.log.Info()
	if l.m.quota.setFailed(true) {
		event = l.m.log.Debug() // the network may not answer it for months
	}
	event.Str("error", bridge.Redact(err.Error())).Msg("the network's limit of new chats was not read; asking again in an hour")
}
