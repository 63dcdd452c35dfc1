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

// longestPause bounds what the bridge may ask for.
const longestPause = 30 * time.Second

// sendOnce sends until the bridge says how it went. Each try has the same key, so
// that the message is sent once. The first one fails at once where no bridge is
// reached: nothing was sent then.
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
		pause := time.NewTimer(pauseOf(err, pauses[try]))
		select {
		case <-ctx.Done():
		case <-pause.C:
		}
		pause.Stop()
	}
}

// repeatWith says how a command is repeated.
func repeatWith(key string) string {
	return fmt.Sprintf("repeat the command with --key %s, which never sends it twice", key)
}

// withKey adds to a refusal what there is to do about what may have left before it.
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

// mayHaveLeft reports whether a message may have left although its try has failed,
// or one before it.
func mayHaveLeft(err error, isRepeated bool) bool {
	var refused *client.Error
	var ofFile *fileError
	switch {
	case errors.As(err, &ofFile):
		return false
	case !errors.As(err, &refused): // no answer
		return isRepeated || !isUnreached(err)
	}
	switch refused.Code {
	case bridge.CodeSendRefused:
		return false
	case bridge.CodeSendTimeout, bridge.CodeRequestInProgress:
		return true
	case bridge.CodeNotConnected, bridge.CodeRateLimited, bridge.CodeUnauthorized:
		return isRepeated // they say nothing of the try before
	}
	return refused.Status >= http.StatusInternalServerError // also what stands before the bridge, while it restarts
}

// isUnreached reports whether no connection came about.
func isUnreached(err error) bool {
	var dial *net.OpError
	return errors.As(err, &dial) && dial.Op == "dial"
}

func pauseOf(err error, usual time.Duration) time.Duration {
	var refused *client.Error
	if errors.As(err, &refused) && refused.RetryAfter > 0 {
		return min(refused.RetryAfter, longestPause)
	}
	return usual
}
