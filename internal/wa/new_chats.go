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

// settingQuota stores the network's last report of its limit of new chats, as JSON.
const settingQuota = "new_chat_quota"

// quotaPause is the pause between two queries for the limit of new chats, as in WhatsApp Web. A
// refusal lasts as long, if the network does not say when the cycle ends.
const quotaPause = time.Hour

// knownQuota is the network's last report of its limit of new chats.
type knownQuota struct {
	session.Quota
	NotedAt   time.Time
	RefusedAt time.Time // when a message was refused with code 475; zero if none was
}

// cappedUntil returns until when the network refuses new chats, or a time in the past.
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

// at returns the limit at a time, or nil if there is no limit or its cycle is over.
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

// quota is the network's limit of the chats that the account may start.
type quota struct {
	mu     sync.Mutex // guards the fields from here on
	known  knownQuota
	asked  time.Time // when the network was last asked
	failed bool      // the last query failed
	shown  string    // the sentence shown in the status
}

// current returns the limit, or nil if no limit is known.
func (q *quota) current() *bridge.NewChatQuota {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.known.at(time.Now())
}

// left returns how long the network still refuses new chats, or 0.
func (q *quota) left() time.Duration {
	q.mu.Lock()
	defer q.mu.Unlock()
	return max(0, time.Until(q.known.cappedUntil()))
}

// show returns the status' sentence while new chats are refused, and an old sentence to remove.
func (q *quota) show() (sentence, over string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if until := q.known.cappedUntil(); time.Now().Before(until) {
		used := "this cycle's new chats are used up"
		if total := q.known.Total; total != nil {
			used = fmt.Sprintf("the %d new chats of this cycle are used up", *total)
		}
		sentence = "the network does not let this account start new chats until " + bridge.At(until).String() + ", because " + used +
			": existing chats, and people who have written to it, are not affected"
	}
	if q.shown != sentence {
		over, q.shown = q.shown, sentence
	}
	return sentence, over
}

// change changes the known report and returns it, with the limit before and after the change.
func (q *quota) change(change func(k *knownQuota, now time.Time)) (known knownQuota, before, after *bridge.NewChatQuota) {
	q.mu.Lock()
	defer q.mu.Unlock()
	now := time.Now()
	before = q.known.at(now)
	change(&q.known, now)
	return q.known, before, q.known.at(now)
}

// isDue reports whether to ask the network now, and records that.
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

// forgetQuery makes the next check ask the network again.
func (q *quota) forgetQuery() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.asked = time.Time{}
}

// setFailed records whether a query failed, and reports whether the previous query failed.
func (q *quota) setFailed(failed bool) (before bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	before, q.failed = q.failed, failed
	return before
}

// noteQuota stores the network's report. Reports may be received in the wrong order. The answer
// to a query does not end a refusal that is younger than an hour, because such answers seem to
// ignore refusals.
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

// newChatRefused records that the network refused a message with code 475, and asks for the
// limit.
func (m *Manager) newChatRefused() {
	m.changeQuota(func(k *knownQuota, now time.Time) {
		if k.CycleEndsAt != nil && !now.Before(k.CycleEndsAt.Time) {
			k.CycleStartsAt, k.CycleEndsAt = nil, nil // a new cycle has started
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
		m.log.Error().Err(err).Msg("cannot encode the limit of new chats")
		return
	}
	m.saveSetting(settingQuota, string(encoded))
	m.showQuota()
	if quotaStatus(before) == quotaStatus(after) {
		return
	}
	event := m.log.Info().Str("status", string(quotaStatus(after)))
	if after != nil && after.Used != nil && after.Total != nil {
		event.Int("used", *after.Used).Int("total", *after.Total)
	}
	event.Msg("the network's limit of new chats has changed")
	if quotaStatus(after) != bridge.QuotaCapped && quotaStatus(before) != bridge.QuotaCapped { // otherwise showQuota has logged it
		m.announce("")
	}
}

func quotaStatus(q *bridge.NewChatQuota) bridge.QuotaStatus {
	if q == nil {
		return bridge.QuotaFree
	}
	return q.Status
}

// showQuota shows in the status, while the account is open, that new chats are refused.
func (m *Manager) showQuota() { m.showRestriction(m.quota.show()) }

// loadQuota reads the network's report about new chats of an earlier run.
func (m *Manager) loadQuota(ctx context.Context) error {
	encoded, err := m.store.Setting(ctx, settingQuota)
	if err != nil || encoded == "" {
		return err
	}
	var known knownQuota
	if err := json.Unmarshal([]byte(encoded), &known); err != nil {
		m.log.Warn().Err(err).Msg("cannot decode the stored limit of new chats")
		return nil // continue without it
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

// askQuota asks the network for its limit of new chats. A failed query changes nothing.
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
		event = l.m.log.Debug() // the network may refuse to answer for months
	}
	event.Str("error", bridge.Redact(err.Error())).Msg("cannot read the network's limit of new chats; asking again in an hour")
}
