package simnet

import (
	"context"
	"fmt"
	"time"

	"go.mau.fi/libsignal/protocol"
	"go.mau.fi/libsignal/session"
	"go.mau.fi/whatsmeow/store"
	waLog "go.mau.fi/whatsmeow/util/log"

	"bridged/internal/simnet/people"
	"bridged/internal/simnet/signal"
)

// maxAcquainted limits the size of a group whose members get sessions with each other at once: each pair costs a millisecond.
const maxAcquainted = 32

// acquaint gives every two phones of a group a Signal session, as people have who know each other. When many strangers in a new group begin
// sessions from both sides at once, whatsmeow needs two retries for each of the first messages.
func acquaint(ctx context.Context, members []*people.Account) error {
	if len(members) > maxAcquainted {
		return nil
	}
	for i, a := range members {
		for _, b := range members[i+1:] {
			one, hasPhone := a.Owner.(*Phone)
			other, hasPhoneToo := b.Owner.(*Phone)
			if !hasPhone || !hasPhoneToo {
				continue // crowds have no phones
			}
			if err := one.meet(ctx, other); err != nil {
				return fmt.Errorf("begin a session between two phones: %w", err)
			}
		}
	}
	return nil
}

// meet begins a session and exchanges one message each way, without the network, so that neither side has to begin it again.
func (p *Phone) meet(ctx context.Context, other *Phone) error {
	for _, side := range [][2]*Phone{{p, other}, {other, p}} {
		known, err := side[0].memory.HasSession(ctx, side[1].LID().SignalAddress().String())
		if err != nil || known {
			return err
		}
	}
	bundle := p.bundleOf(ctx, other.LID())
	if bundle == nil {
		// The other phone is switched off.
		return nil
	}
	mine, theirs := p.sessionWith(other), other.sessionWith(p)
	var first, second protocol.CiphertextMessage
	err := p.withSessions(ctx, func(ctx context.Context) (err error) {
		builder := session.NewBuilderFromSignal(p.client.Store, other.LID().SignalAddress(), store.SignalProtobufSerializer)
		if err = builder.ProcessBundle(ctx, bundle); err == nil {
			first, err = mine.Encrypt(ctx, []byte("hello"))
		}
		return err
	})
	if err != nil {
		return err
	}
	err = other.withSessions(ctx, func(ctx context.Context) error {
		opening, err := protocol.NewPreKeySignalMessageFromBytes(
			first.Serialize(), store.SignalProtobufSerializer.PreKeySignalMessage, store.SignalProtobufSerializer.SignalMessage)
		if err != nil {
			return err
		}
		if _, err = theirs.DecryptMessage(ctx, opening); err == nil {
			second, err = theirs.Encrypt(ctx, []byte("hello"))
		}
		return err
	})
	if err != nil {
		return err
	}
	return p.withSessions(ctx, func(ctx context.Context) error {
		answer, err := protocol.NewSignalMessageFromBytes(second.Serialize(), store.SignalProtobufSerializer.SignalMessage)
		if err == nil {
			_, err = mine.Decrypt(ctx, answer)
		}
		return err
	})
}

func (p *Phone) sessionWith(other *Phone) *session.Cipher {
	address := other.LID().SignalAddress()
	return session.NewCipher(session.NewBuilderFromSignal(p.client.Store, address, store.SignalProtobufSerializer), address)
}

// withSessions calls change, which may change the phone's sessions, while no other code does.
func (p *Phone) withSessions(ctx context.Context, change func(context.Context) error) error {
	held, release := p.memory.Hold(ctx)
	defer release()
	return change(held)
}

// Trust gives another account a privacy token, as writing to it does.
func (p *Phone) Trust(other *Phone) {
	p.net.Mu.Lock()
	defer p.net.Mu.Unlock()
	p.net.HandToken(p.Account, other.Account.PN(), time.Now())
}

// NewDevice returns an unpaired whatsmeow device with its store in memory, for clients without a session file. It starts with a few keys, so
// that whatsmeow uploads 50 at the first login and not 812.
func NewDevice(log waLog.Logger) *store.Device { return signal.NewDevice(log, people.LowKeys) }

// Rewind calls act, in which the phone sends, and then undoes the changes to its Signal sessions and group keys, so that its next messages
// use keys a second time. The same happens to clients that lose a change of a session while they send and receive at once.
func (p *Phone) Rewind(act func() error) error { return p.memory.Rewind(act) }
