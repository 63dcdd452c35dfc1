package simnet

import (
	"context"
	"encoding/hex"
	"fmt"
	"strings"

	"go.mau.fi/whatsmeow"
	"go.mau.fi/whatsmeow/types"
	"go.mau.fi/whatsmeow/types/events"

	"bridged/internal/simnet/wire"
)

// CallOptions describes a call.
type CallOptions struct {
	Video bool
	// ID may be empty, for a generated one.
	ID string
}

// Call is a phone's call to a person or a group. It carries no audio.
type Call struct {
	id     string
	caller *Phone
	to     types.JID
}

func (c *Call) ID() string { return c.id }

// Call calls a person and returns once the server has accepted the offer.
func (p *Phone) Call(ctx context.Context, who *Phone, opts CallOptions) (*Call, error) {
	return p.call(ctx, who.LID(), opts)
}

// Call calls the members of the group.
func (g *Group) Call(ctx context.Context, by *Phone, opts CallOptions) (*Call, error) {
	return by.call(ctx, g.jid, opts)
}

func (p *Phone) call(ctx context.Context, to types.JID, opts CallOptions) (*Call, error) {
	c := &Call{id: opts.ID, caller: p, to: to}
	if c.id == "" {
		c.id = strings.ToUpper(hex.EncodeToString(wire.Random(16)))
	}
	media := []Node{{Tag: "audio", Attrs: attrs{"enc": "opus", "rate": "16000"}}}
	if opts.Video {
		media = append(media, Node{Tag: "video", Attrs: attrs{"enc": "h264", "dec": "h264"}})
	}
	return c, c.say(ctx, p, Node{Tag: "offer", Content: media})
}

// HangUp ends the call from the caller's side, answered or not.
func (c *Call) HangUp(ctx context.Context) error {
	return c.say(ctx, c.caller, Node{Tag: "terminate"})
}

// TimeOut ends the call as the caller's phone does after too long without an answer.
func (c *Call) TimeOut(ctx context.Context) error {
	return c.say(ctx, c.caller, Node{Tag: "terminate", Attrs: attrs{"reason": "timeout"}})
}

// Accept answers the call on a phone that it rings on.
func (c *Call) Accept(ctx context.Context, who *Phone) error {
	return c.say(ctx, who, Node{Tag: "accept"})
}

// Reject rejects the call on a phone that it rings on.
func (c *Call) Reject(ctx context.Context, who *Phone) error {
	return c.say(ctx, who, Node{Tag: "reject", Attrs: attrs{"count": "0"}})
}

// WaitRejected waits until the caller's phone reports that the call was rejected.
func (c *Call) WaitRejected(ctx context.Context) (*events.CallReject, error) {
	found, err := c.caller.Event(ctx, func(event any) bool {
		rejected, ok := event.(*events.CallReject)
		return ok && rejected.CallID == c.id
	})
	if err != nil {
		return nil, fmt.Errorf("wait until the call is rejected: %w", err)
	}
	return found.(*events.CallReject), nil
}

// say sends one stanza of the call from a phone and waits for the server's acknowledgement.
func (c *Call) say(ctx context.Context, by *Phone, said Node) error {
	if said.Attrs == nil {
		said.Attrs = attrs{}
	}
	said.Attrs["call-id"], said.Attrs["call-creator"] = c.id, c.caller.LID()
	to := c.caller.LID()
	if by == c.caller {
		to = c.to
	}
	//lint:ignore SA1019 whatsmeow has no method for calls but one to reject them, and the library's version is pinned
	internals := by.client.DangerousInternals()
	id := by.client.GenerateMessageID()
	answered := internals.WaitResponse(id)
	if err := internals.SendNode(ctx, Node{Tag: "call", Attrs: attrs{"id": id, "to": to}, Content: []Node{said}}); err != nil {
		return fmt.Errorf("%s a call: %w", said.Tag, err)
	}
	select {
	case ack := <-answered:
		if ack == nil || wire.Text(ack, "error") != "" {
			return fmt.Errorf("%s a call: %w", said.Tag, whatsmeow.ErrServerReturnedError)
		}
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
