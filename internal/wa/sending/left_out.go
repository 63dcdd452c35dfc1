package sending

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"go.mau.fi/whatsmeow"
	"go.mau.fi/whatsmeow/types"

	"bridged/internal/bridge"
	"bridged/internal/wa/session"
)

// leftOut sends messages again that did not go to all devices of their recipients: the network's
// answer has a hash of devices that differs from the hash of the devices that the message was
// encrypted for. Its queue is lost in a restart, and these devices then miss the message.
type leftOut struct {
	s     *Sender
	queue chan *delivery
	// futile has the hashes for which no missing device was found. Only run uses it.
	futile map[types.JID]futileHash
}

// futileHash is a hash that means known devices only. Asking again with each message would hit
// the network's limit of queries.
type futileHash struct {
	hash string
	at   time.Time
}

const (
	// futileFor is how long a hash is not checked again.
	futileFor = time.Hour
	maxVain   = 1000
)

// leftOutQueue limits the messages that wait to be sent again.
const leftOutQueue = 256

func newLeftOut(s *Sender) *leftOut {
	return &leftOut{s: s, queue: make(chan *delivery, leftOutQueue), futile: make(map[types.JID]futileHash)}
}

// await waits for the answer to a message that a recipient already has, and queues the message if
// the answer has another hash.
func (o *leftOut) await(d *delivery) {
	if d.answer == nil {
		c, err := o.s.o.Connection()
		if err != nil {
			return
		}
		d.answer = c.AwaitResponse(d.id)
	}
	o.want(d)
}

// want queues a message if the answer to it, which may not have been received yet, has another
// hash of devices.
func (o *leftOut) want(d *delivery) {
	select {
	case o.queue <- d:
	default:
		o.s.o.Log.Warn().Str("msg_id", d.id).Msg("not sending a message again to devices that were left out: too many messages are waiting for that")
	}
}

func (o *leftOut) run(ctx context.Context) {
	var awaiting sync.WaitGroup
	defer awaiting.Wait()
	for {
		select {
		case <-ctx.Done():
			return
		case d := <-o.queue:
			if d.others != "" {
				o.handle(ctx, d)
				continue
			}
			awaiting.Go(func() {
				if d.others = o.otherDevices(ctx, d); d.others != "" {
					o.want(d)
				}
			})
		}
	}
}

// otherDevices waits for the answer to a message and returns the network's hash of the devices,
// or "" if it is ours.
func (o *leftOut) otherDevices(ctx context.Context, d *delivery) string {
	ctx, cancel := context.WithTimeout(ctx, o.s.Waits.answerTime(d.devices))
	defer cancel()
	select {
	case <-ctx.Done():
		return ""
	case node, ok := <-d.answer:
		if !ok {
			return ""
		}
		_, hash, err := session.Acknowledgement(node)
		if err != nil || hash == session.DevicesHash(d.known) {
			return ""
		}
		return hash
	}
}

// handle looks up the devices again and, if some were left out, sends a message again under its
// id; devices that have the message drop it. It tries again only if nothing was sent.
func (o *leftOut) handle(ctx context.Context, first *delivery) {
	if len(first.known) == 0 {
		return // whatsmeow has just looked them up
	}
	if v := o.futile[first.to]; v.hash == first.others && time.Since(v.at) < futileFor {
		return
	}
	d := &delivery{to: first.to, id: first.id, msg: first.msg, began: time.Now(), isOut: func() bool { return false }, gone: first.gone}
	log := o.s.o.Log.With().Str("msg_id", d.id).Logger()
	for {
		missed, err := o.once(ctx, d, first.known)
		if err == nil && missed == 0 {
			log.Debug().Msg("not sending a message again: no devices were left out, or it was deleted")
			if len(o.futile) >= maxVain {
				clear(o.futile)
			}
			o.futile[first.to] = futileHash{hash: first.others, at: time.Now()}
			return
		}
		again, left := false, true
		if err != nil {
			again, left = Uncertain(err)
		}
		switch {
		case left:
			o.s.sentAgain.Add(1)
			log.Info().Int("devices", missed).Msg("sent a message again to devices that were left out")
			return
		case !again || o.s.waitOpen(ctx, d) != nil:
			if ctx.Err() == nil {
				log.Warn().Str("error", bridge.Redact(err.Error())).Msg("cannot send a message again to devices that were left out")
			}
			return
		}
	}
}

// once sends a message if devices miss it and it was not deleted, and returns the number of these
// devices.
func (o *leftOut) once(ctx context.Context, d *delivery, known []types.JID) (missed int, err error) {
	missed, err = o.missed(ctx, d, known)
	if err != nil || missed == 0 || d.isGone() {
		return 0, err
	}
	_, err = o.s.try(ctx, d)
	return missed, err
}

// missed looks up the devices of a chat again and returns how many of them are new.
func (o *leftOut) missed(ctx context.Context, d *delivery, known []types.JID) (int, error) {
	c, err := o.s.o.Connection()
	if err != nil {
		return 0, whatsmeow.ErrNotConnected
	}
	ctx, cancel := context.WithDeadline(ctx, d.deadline(o.s.Waits))
	defer cancel()
	if err := c.refreshRecipients(ctx, d.to); err != nil {
		return 0, errors.Join(errNotSent, err)
	}
	devices, err := c.DevicesOf(ctx, d.to)
	if err != nil {
		return 0, errors.Join(errNotSent, err)
	}
	devices = slices.DeleteFunc(slices.Clone(devices), func(device types.JID) bool { return slices.Contains(known, device) })
	return len(devices), nil
}
