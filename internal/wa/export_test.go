package wa

import (
	"context"
	"errors"
	"time"

	waBinary "go.mau.fi/whatsmeow/binary"
	"go.mau.fi/whatsmeow/proto/waE2E"

	"bridged/internal/wa/convert"
	"bridged/internal/wa/history"
	"bridged/internal/wa/sending"
	"bridged/internal/wa/session"
)

// SetConnectingTimeout shortens how long a lost connection counts as connecting, for all
// tests of the process.
func SetConnectingTimeout(d time.Duration) { connectingTimeout = d }

// SetPreKeyBatch bounds the one-time keys of an upload, for all tests of the
// process.
func SetPreKeyBatch(largest uint32) { session.LargestBatch = largest }

// BeforeTry calls f before each message is handed to whatsmeow. It must be set
// while nothing is being sent.
func (m *Manager) BeforeTry(f func()) { m.OnTry = f }

// SetWaits shortens the waits of sends: for an acknowledgement, in total, and for
// each device beyond the first hundred. It must be called while nothing is being
// sent.
func (m *Manager) SetWaits(answer, budget, perDevice time.Duration) {
	m.Waits = sending.Waits{Answer: answer, Budget: budget, PerDevice: perDevice, Longest: budget, Alone: 200 * time.Millisecond}
}

// SetAlone sets the wait for an acknowledgement while nothing else is sent.
func (m *Manager) SetAlone(d time.Duration) { m.Waits.Alone = d }

// Deliver hands an event to the current link's handler, as whatsmeow does with a
// decrypted stanza, and reports whether it would be acknowledged.
func (m *Manager) Deliver(evt any) (acknowledged bool, err error) {
	m.mu.Lock()
	l := m.link
	m.mu.Unlock()
	if l == nil {
		return false, errors.New("the account has no link")
	}
	return l.handle(evt), nil
}

// HurryHistory shortens the wait for the phone's history and the pauses after
// failures, for all tests of the process.
func HurryHistory() { history.Hurry(time.Second, 100*time.Millisecond) }

// PairingRounds is the number of sockets that a pairing opens before it rests.
const PairingRounds = pairingRounds

// DeleteSecrets deletes the secrets of all messages from session.db, as if they
// were old, and returns their number.
func (m *Manager) DeleteSecrets(ctx context.Context) (int64, error) {
	return m.db.DeleteSecrets(ctx, 0)
}

// SetPingTimeout shortens the wait for the phone's answer, for all tests of the
// process.
func SetPingTimeout(d time.Duration) { pingTimeout = d }

// AgeQRCodes makes the QR codes of a pairing older.
func (m *Manager) AgeQRCodes(by time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	o := &m.pairing.offer
	o.mu.Lock()
	defer o.mu.Unlock()
	o.turnEnds = o.turnEnds.Add(-by)
}

// SetVersionPause shortens the pause after the network has refused a version.
func (m *Manager) SetVersionPause(d time.Duration) { m.hourly.Store(int64(d)) }

// SetOfflineSilence shortens how long an offline queue may make no progress.
func (m *Manager) SetOfflineSilence(d time.Duration) { m.stalls.silence.Store(int64(d)) }

// RenewPairing replaces the unpaired socket now.
func (m *Manager) RenewPairing(ctx context.Context) error {
	_, err := m.ask(ctx, commandRenewPairing)
	return err
}

// HoldDecryption delays every decryption until release is called.
func (m *Manager) HoldDecryption(ctx context.Context) (release func(), err error) {
	m.mu.Lock()
	cli := m.link.cli
	m.mu.Unlock()
	holding, end := cli.HoldForSend(ctx, nil)
	_, err = cli.Store.Sessions.GetManySessions(holding, nil)
	return end, err
}

// Shows reports whether a message has content to list.
func Shows(raw *waE2E.Message) bool { return convert.Shows(raw) }

// Receive takes a frame through whatsmeow and the current link's handler, and returns
// once its handler has ended. The goroutines that whatsmeow starts may still run.
func (m *Manager) Receive(ctx context.Context, frame []byte) error {
	m.mu.Lock()
	l := m.link
	if m.pairing != nil {
		l = m.pairing.l
	}
	m.mu.Unlock()
	if l == nil {
		return errors.New("the account has no link")
	}
	inside := l.cli.DangerousInternals() //nolint:staticcheck // there is no other way in
	queue, ended := make(chan *waBinary.Node, 1), make(chan struct{})
	ctx, cancel := context.WithCancel(ctx)
	go inside.HandlerQueueLoop(l.ctx, ctx, queue, ended)
	inside.HandleFrame(ctx, frame, queue)
	nothing := &waBinary.Node{Tag: "ib"}
	for range 2 { // the second is taken when the first has been handled
		select {
		case queue <- nothing:
		case <-ctx.Done():
			cancel()
			return ctx.Err()
		}
	}
	cancel()
	<-ended
	return nil
}
