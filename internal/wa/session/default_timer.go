package session

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	waBinary "go.mau.fi/whatsmeow/binary"
	"go.mau.fi/whatsmeow/types"

	"bridged/internal/bridge"
	"bridged/internal/wa/convert"
)

// DefaultTimer reports the timer of disappearing messages that a person's new chats start with.
type DefaultTimer struct {
	Person  bridge.JID
	Seconds uint32 // 0 for no timer
	SetAt   time.Time
}

// readDefaultTimer parses the notification as WAWebHandleDisappearingModeNotification does. The
// notification may also be about the account itself.
func readDefaultTimer(node *waBinary.Node) any {
	timer, ok := defaultTimerIn(node)
	if !ok {
		return nil
	}
	from, _ := node.Attrs["from"].(types.JID)
	timer.Person = convert.JID(from)
	return timer
}

// defaultTimerIn parses a timer among the children of a node.
func defaultTimerIn(node *waBinary.Node) (timer DefaultTimer, ok bool) {
	child, ok := node.GetOptionalChildByTag("disappearing_mode")
	if !ok {
		return timer, false
	}
	attrs := child.AttrGetter()
	seconds, err := strconv.ParseUint(attrs.OptionalString("duration"), 10, 32)
	if err != nil {
		return timer, false
	}
	timer.Seconds, timer.SetAt = uint32(seconds), attrs.OptionalUnixTime("t")
	return timer, true
}

// DefaultTimer asks for a person's default timer, as WhatsApp Web does (usync protocol
// disappearing_mode).
func (c *Client) DefaultTimer(ctx context.Context, person bridge.JID) (DefaultTimer, error) {
	list, err := c.dangerous().Usync(ctx, []types.JID{convert.WireJID(person)}, "query", "interactive", []waBinary.Node{{Tag: "disappearing_mode"}})
	if err != nil {
		return DefaultTimer{}, fmt.Errorf("ask for the default timer: %w", err)
	}
	for _, user := range list.GetChildrenByTag("user") {
		if timer, ok := defaultTimerIn(&user); ok {
			timer.Person = person
			return timer, nil
		}
	}
	return DefaultTimer{}, errors.New("the network's answer lacks the default timer")
}
