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

// leftOut sends messages once more that did not go to all devices of their recipients:
// the hash of devices in the network's answer differs from that of the devices which the
// message was encrypted for. It is not kept over a restart, which leaves the device a gap.
type leftOut struct {
	s     *Sender
	queue chan *delivery
	// vain has the hashes for which no device was found to be left out; only run's.
	vain map[types.JID]vainHash
}

// vainHash is a hash that names known devices only: asking again with each message would
// end in the network's limit of queries.
type vainHash struct {
	hash string
	at   time.Time
}

const (
	// vainFor is how long a hash is not asked about again.
	vainFor = time.Hour
	maxVain = 1000
)

// leftOutQueue limits the messages that wait to be sent once more.
const leftOutQueue = 256

func newLeftOut(s *Sender) *leftOut {
	return &leftOut{s: s, queue: make(chan *delivery, leftOutQueue), vain: make(map[types.JID]vainHash)}
}

// await waits for the answer to a message that a recipient has already, and has it
// sent once more if it names other devices.
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

// want has a message sent once more if the answer to it, which may not have come yet,
// names other devices.
func (o *leftOut) want(d *delivery) {
	select {
	case o.queue <- d:
	default:
		o.s.o.Log.Warn().Str("msg_id", d.id).Msg("a message is not sent again to devices that were left out: too many wait for that")
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

// otherDevices waits for the answer to a message, and returns the hash of the devices
// that it names; empty where the message went to these.
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

// handle asks for the devices anew, and sends a message once more under its id if some
// were left out; the others drop it. It tries again only where nothing has left.
func (o *leftOut) handle(ctx context.Context, first *delivery) {
	if len(first.known) == 0 {
		return // whatsmeow has asked for them a moment ago
	}
	if v := o.vain[first.to]; v.hash == first.others && time.Since(v.at) < vainFor {
		return
	}
	d := &delivery{to: first.to, id: first.id, msg: first.msg, began: time.Now(), isOut: func() bool { return false }, gone: first.gone}
	log := o.s.o.Log.With().Str("msg_id", d.id).Logger()
	for {
		missed, err := o.once(ctx, d, first.known)
		if err == nil && missed == 0 {
			log.Debug().Msg("not sent again: no devices were left out, or it was deleted")
			if len(o.vain) >= maxVain {
				clear(o.vain)
			}
			o.vain[first.to] = vainHash{hash: first.others, at: time.Now()}
			return
		}
		again, left := false, true
		if err != nil {
			again, left = Uncertain(err)
		}
		switch {
		case left:
			o.s.sentAgain.Add(1)
			log.Info().Int("devices", missed).Msg("message sent again to devices that were left out")
			return
		case !again || o.s.waitOpen(ctx, d) != nil:
			if ctx.Err() == nil {
				log.Warn().Str("error", bridge.Redact(err.Error())).Msg("message not sent again to devices that were left out")
			}
			return
		}
	}
}

// once sends a message if it misses devices and was not deleted, and returns how many.
func (o *leftOut) once(ctx context.Context, d *delivery, known []types.JID) (missed int, err error) {
	missed, err = o.missed(ctx, d, known)
	if err != nil || missed == 0 || d.isGone() {
		return 0, err
	}
	_, err = o.s.try(ctx, d)
	return missed, err
}

// missed asks for the devices of a chat anew, and returns how many of them are new.
func (o *leftOut) missed(ctx context.Context, d *delivery, known []types.JID) (int, error) {
	c, err := o.s.o.Connection()
	if err != nil {
		return 0, whatsmeow.ErrNotConnected
	}
	ctx, cancel := context.WithDeadline(ctx, d.deadline(o.s.Waits))
	defer cancel()
	if err := c.refreshRecipients(ctx, d.to); err != nil {
		return 0, errors.Join(errNothingLeft, err)
	}
	devices, err := c.DevicesOf(ctx, d.to)
	if err != nil {
		return 0, errors.Join(errNothingLeft, err)
	}
	devices = slices.DeleteFunc(slices.Clone(devices), func(device types.JID) bool { return slices.Contains(known, device) })
	return len(devices), nil
}
