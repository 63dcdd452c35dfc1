package wa

import (
	"context"
	"fmt"
	"time"

	"go.mau.fi/whatsmeow"
	waBinary "go.mau.fi/whatsmeow/binary"
)

// lateAnswer waits for the acknowledgement of a message for which whatsmeow has
// stopped waiting. hash is that of the devices that the message should have gone
// to; it may be empty.
func (l *link) lateAnswer(ctx context.Context, answered <-chan *waBinary.Node, limit time.Duration) (resp whatsmeow.SendResponse, hash string, err error) {
	if !l.cli.IsConnected() { // its end was told before
		return resp, "", errLostAnswer(nil)
	}
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case node, ok := <-answered:
		if !ok {
			return resp, "", errLostAnswer(nil)
		}
		return acknowledgement(node)
	case <-timer.C:
		return resp, "", whatsmeow.ErrMessageTimedOut
	case <-ctx.Done():
		return resp, "", ctx.Err()
	}
}

// acknowledgement reads the network's answer to a message, or to what is said of a call.
func acknowledgement(node *waBinary.Node) (resp whatsmeow.SendResponse, hash string, err error) {
	if node.Tag != "ack" {
		return resp, "", errLostAnswer(node)
	}
	attrs := node.AttrGetter()
	resp.Timestamp = attrs.UnixTime("t")
	if code := attrs.OptionalInt("error"); code != 0 {
		err = fmt.Errorf("%w %d", whatsmeow.ErrServerReturnedError, code)
	}
	return resp, attrs.OptionalString("phash"), err
}

// errLostAnswer returns the end of the connection before the answer.
func errLostAnswer(node *waBinary.Node) error {
	return &whatsmeow.DisconnectedError{Action: "message send", Node: node}
}
