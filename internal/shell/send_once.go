package shell

import (
	"context"
	"errors"
	"fmt"
	"net"
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
		isUnknown := err != nil && mayHaveLeft(err) && (try > 0 || !isUnreached(err))
		if !isUnknown && ctx.Err() == nil {
			return sent, err
		}
		if try == len(pauses) || ctx.Err() != nil {
			return sent, hinted(fmt.Errorf("it is not known whether the message was sent: %w", err), "repeat the command with --key %s, which never sends it twice", key)
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

// mayHaveLeft reports whether a message may have left although its try has failed.
func mayHaveLeft(err error) bool {
	var refused *client.Error
	var ofFile *fileError
	if errors.As(err, &ofFile) {
		return false
	}
	if !errors.As(err, &refused) {
		return true // no answer
	}
	// What stands before the bridge answers so while it restarts.
	isProxy := refused.Message == "" && refused.Status >= 502
	return isProxy || refused.Code == bridge.CodeSendTimeout || refused.Code == bridge.CodeRequestInProgress
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
