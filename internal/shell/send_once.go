package shell

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"bridged/internal/bridge"
	"bridged/internal/client"
)

// pauses lie between tries whose outcome is not known.
var pauses = []time.Duration{time.Second, 2 * time.Second, 4 * time.Second, 8 * time.Second, 15 * time.Second}

// longestPause bounds the pauses that the bridge asks for.
const longestPause = 30 * time.Second

// sendOnce sends until the bridge answers with the outcome. Each try has the same key,
// so that the message is sent once. If the first one does not reach a bridge it fails at
// once: nothing was sent.
func (s *Shell) sendOnce(ctx context.Context, key string, send func(context.Context) (client.Sent, error)) (client.Sent, error) {
	for try := 0; ; try++ {
		sent, err := send(ctx)
		if err == nil || !mayHaveLeft(err, try > 0) {
			return sent, withKey(err, key, try > 0)
		}
		if try == len(pauses) || ctx.Err() != nil {
			return sent, hinted(fmt.Errorf("it is not known whether the message was sent: %w", err), "%s", repeatWith(key))
		}
		if try == 0 {
			if err := s.note("The bridge did not say whether it was sent; trying again under the same key."); err != nil {
				return sent, err
			}
		}
		select {
		case <-ctx.Done():
		case <-time.After(pauseOf(err, pauses[try])):
		}
	}
}

func repeatWith(key string) string {
	return fmt.Sprintf("repeat the command with --key %s, which never sends it twice", key)
}

// withKey adds a hint to a refusal after which the message may have been sent.
func withKey(err error, key string, isRepeated bool) error {
	switch code := bridge.CodeOf(err); {
	case err == nil:
		return nil
	case code == bridge.CodeNotConnected: // also of a bridge that ends while it sends
		return hinted(err, "%s\n%s", hints[code], repeatWith(key))
	case code == bridge.CodeIdempotencyMismatch && isRepeated:
		return hinted(fmt.Errorf("it is not known whether the message was sent, and its file has changed since: %w", err), "look in the chat before you send it again")
	}
	return err
}

// mayHaveLeft reports whether a failed try, or one before it, may have sent the message.
func mayHaveLeft(err error, isRepeated bool) bool {
	if _, ok := errors.AsType[*fileError](err); ok {
		return false
	}
	refused, ok := errors.AsType[*client.Error](err)
	if !ok { // no answer
		dial, ok := errors.AsType[*net.OpError](err)
		isUnreached := ok && dial.Op == "dial"
		return isRepeated || !isUnreached
	}
	switch refused.Code {
	case bridge.CodeSendRefused:
		return false
	case bridge.CodeSendTimeout, bridge.CodeRequestInProgress:
		return true
	case bridge.CodeNotConnected, bridge.CodeRateLimited, bridge.CodeUnauthorized:
		return isRepeated // the outcome of the try before is unknown
	}
	return refused.Status >= http.StatusInternalServerError // also from a proxy, while the bridge restarts
}

func pauseOf(err error, usual time.Duration) time.Duration {
	if refused, ok := errors.AsType[*client.Error](err); ok && refused.RetryAfter > 0 {
		return min(refused.RetryAfter, longestPause)
	}
	return usual
}
