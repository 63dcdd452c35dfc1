package wa

import (
	"context"
	"fmt"
	"time"

	"go.mau.fi/whatsmeow"
	waBinary "go.mau.fi/whatsmeow/binary"
)

// lateAnswer waits for the acknowledgement of a message for which whatsmeow has
// stopped waiting.
func (l *link) lateAnswer(ctx context.Context, id string, limit time.Duration) (whatsmeow.SendResponse, error) {
	answered := l.awaitResponse(id)
	if !l.cli.IsConnected() { // its end was told before
		return whatsmeow.SendResponse{}, errLostAnswer(nil)
	}
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case node, ok := <-answered:
		if !ok {
			return whatsmeow.SendResponse{}, errLostAnswer(nil)
		}
		return acknowledgement(node)
	case <-timer.C:
		return whatsmeow.SendResponse{}, whatsmeow.ErrMessageTimedOut
	case <-ctx.Done():
		return whatsmeow.SendResponse{}, ctx.Err()
	}
}

// acknowledgement reads the network's answer to a message. A hash of other devices
// than the message went to, which whatsmeow would look at, is left to the next
// message.
func acknowledgement(node *waBinary.Node) (resp whatsmeow.SendResponse, err error) {
	if node.Tag != "ack" {
		return resp, errLostAnswer(node)
	}
	attrs := node.AttrGetter()
	resp.Timestamp = attrs.UnixTime("t")
	if code := attrs.OptionalInt("error"); code != 0 {
		err = fmt.Errorf("%w %d", whatsmeow.ErrServerReturnedError, code)
	}
	return resp, err
}

// errLostAnswer returns the end of the connection before the answer.
func errLostAnswer(node *waBinary.Node) error {
	return &whatsmeow.DisconnectedError{Action: "message send", Node: node}
}
