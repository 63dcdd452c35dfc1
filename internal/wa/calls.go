package wa

import (
	"context"
	"fmt"
	"time"

	waBinary "go.mau.fi/whatsmeow/binary"

	"bridged/internal/bridge"
	"bridged/internal/wa/convert"
	"bridged/internal/wa/session"
)

func (l *link) callFacts(evt any) []bridge.Fact {
	pn, lid := l.m.own()
	return convert.CallFacts(evt, l.m.opts.Clock.Now(), pn, lid)
}

// RejectCall rejects a call on all devices of the account. It fails with
// [bridge.CodeNotConnected] or [bridge.CodeSendTimeout].
func (m *Manager) RejectCall(ctx context.Context, call bridge.Call) error {
	l, err := m.open()
	if err != nil {
		return err
	}
	ctx, cancel := m.Within(ctx, m.Waits.Answer)
	defer cancel()
	if err := l.rejectCall(ctx, call); err != nil {
		return err
	}
	err = m.store.Save(context.WithoutCancel(ctx), bridge.CallChange{
		ID: call.ID, Caller: call.FromJID, By: m.currentUser().JID, State: bridge.CallRejected, At: bridge.At(time.Now()),
	})
	if err != nil {
		return fmt.Errorf("store that a call was rejected: %w", err)
	}
	return nil
}

// rejectCall waits for the network's answer; whatsmeow's own method does not.
func (l *link) rejectCall(ctx context.Context, call bridge.Call) error {
	caller := convert.WireJID(call.FromJID)
	if call.FromLID != "" {
		caller = convert.WireJID(call.FromLID)
	}
	id := l.cli.GenerateMessageID()
	answered := l.cli.AwaitResponse(id)
	err := l.cli.SendNode(ctx, waBinary.Node{
		Tag: "call", Attrs: waBinary.Attrs{"id": id, "from": l.cli.Device.ToNonAD(), "to": caller},
		Content: []waBinary.Node{{Tag: "reject", Attrs: waBinary.Attrs{"call-id": call.WireID, "call-creator": caller, "count": "0"}}},
	})
	if err != nil {
		return bridge.NotConnected("the connection was lost before anything was sent: try again").Because(err)
	}
	if _, _, err = l.cli.LateAnswer(ctx, answered, l.m.Waits.Answer); err == nil {
		return nil
	}
	if code := session.ServerCode(err); code != 0 {
		return bridge.Fail(bridge.CodeSendRefused, "the network refused to reject the call (code %d)", code).Because(err)
	}
	return bridge.Fail(bridge.CodeSendTimeout, "the network did not confirm in time that the call was rejected").Because(err)
}

// missCalls marks calls as missed that have been ringing for at least a duration. It reports
// success.
func (m *Manager) missCalls(ctx context.Context, ringing time.Duration) bool {
	err := m.store.Save(ctx, bridge.CallsMissed{Ringing: ringing})
	if err != nil && ctx.Err() == nil {
		m.log.Warn().Err(err).Msg("cannot store the ends of calls; trying again")
	}
	return err == nil
}

// noteRinging wakes watchCalls if facts contain calls.
func (m *Manager) noteRinging(facts []bridge.Fact) {
	for _, fact := range facts {
		if _, ok := fact.(bridge.Call); ok {
			bridge.Wake(m.rang)
		}
	}
}

// watchCalls marks calls without an end as missed. It does not query the store while no call
// rings.
func (m *Manager) watchCalls(ctx context.Context) {
	ticker := time.NewTicker(convert.RingTime / convert.LooksAtRinging)
	defer ticker.Stop()
	for left := 0; ; {
		select {
		case <-ctx.Done():
			return
		case <-m.rang:
			left = convert.LooksAtRinging + 1
		case <-ticker.C:
			if left > 0 && m.missCalls(ctx, convert.RingTime) {
				left--
			}
		}
	}
}
