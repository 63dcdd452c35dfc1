package session

import (
	"context"
	"fmt"
	"strings"
	"time"

	"go.mau.fi/whatsmeow"
	waBinary "go.mau.fi/whatsmeow/binary"
)

// AwaitResponse returns a channel for the answer to a stanza. It is closed when the connection
// ends. whatsmeow removes it then, or with the answer, or when the stanza is sent again; removing
// it here would race with an answer.
func (c *Client) AwaitResponse(id string) <-chan *waBinary.Node {
	return c.dangerous().WaitResponse(id)
}

// LateAnswer waits up to limit for the acknowledgement of a message after whatsmeow has stopped
// waiting. hash is the network's hash of the devices that should have received the message, or
// "".
func (c *Client) LateAnswer(ctx context.Context, answered <-chan *waBinary.Node, limit time.Duration) (resp whatsmeow.SendResponse, hash string, err error) {
	if !c.IsConnected() { // the channel was closed before
		return resp, "", LostAnswer(nil)
	}
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case node, ok := <-answered:
		if !ok {
			return resp, "", LostAnswer(nil)
		}
		return Acknowledgement(node)
	case <-timer.C:
		return resp, "", whatsmeow.ErrMessageTimedOut
	case <-ctx.Done():
		return resp, "", ctx.Err()
	}
}

// Acknowledgement parses the network's answer to a message, or to the rejection of a call.
func Acknowledgement(node *waBinary.Node) (resp whatsmeow.SendResponse, hash string, err error) {
	if node.Tag != "ack" {
		return resp, "", LostAnswer(node)
	}
	attrs := node.AttrGetter()
	resp.Timestamp = attrs.UnixTime("t")
	if code := attrs.OptionalInt("error"); code != 0 {
		err = fmt.Errorf("%w %d", whatsmeow.ErrServerReturnedError, code)
	}
	return resp, attrs.OptionalString("phash"), err
}

// LostAnswer returns the error for a connection that ended before the answer.
func LostAnswer(node *waBinary.Node) error {
	return &whatsmeow.DisconnectedError{Action: "message send", Node: node}
}

// ServerCode returns the code of the network's refusal of a message, or 0.
func ServerCode(err error) int {
	var code int
	if _, scanErr := fmt.Sscanf(strings.TrimPrefix(err.Error(), whatsmeow.ErrServerReturnedError.Error()), "%d", &code); scanErr != nil {
		return 0
	}
	return code
}

// IsNodeNotWritten reports whether whatsmeow failed to write a message's
// stanza to the socket.
func IsNodeNotWritten(err error) bool {
	return strings.Contains(err.Error(), "failed to send message node")
}

// IsNumberUnknown reports whether an error means that a number is not on WhatsApp.
func IsNumberUnknown(err error) bool { return strings.Contains(err.Error(), "no LID found for") }
