package shell

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"time"

	"bridged/internal/bridge"
	"bridged/internal/client"
)

// keyOr returns the key, or a random one if it is "".
func keyOr(key string) (string, error) {
	if key == "" {
		return "shell-" + rand.Text(), nil
	}
	if len(key) > maxKey || strings.ContainsFunc(key, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return "", Usage("--key must have 1 to %d visible ASCII characters", maxKey)
	}
	return key, nil
}

// pauses are the times between attempts whose outcome is unknown.
var pauses = []time.Duration{time.Second, 2 * time.Second, 4 * time.Second, 8 * time.Second, 15 * time.Second}

// longestPause limits the pauses that the bridge requests with Retry-After.
const longestPause = 30 * time.Second

// once repeats a request until the bridge answers with the outcome. Each attempt has the same key, so that
// a message is sent once and a change is made once. It fails at once if the first attempt does not reach a
// bridge.
func once[T any](ctx context.Context, s *Shell, key string, request func(context.Context) (T, error)) (T, error) {
	for try := 0; ; try++ {
		done, err := request(ctx)
		if err == nil || !mayHaveLeft(err, try > 0) {
			return done, withKey(err, key, try > 0)
		}
		if try == len(pauses) || ctx.Err() != nil {
			return done, hinted(fmt.Errorf("it is unknown whether it was done: %w", err), "%s", repeatWith(key))
		}
		if try == 0 {
			if err := s.note("The bridge did not say whether it was done; trying again with the same key."); err != nil {
				return done, err
			}
		}
		bridge.Sleep(ctx, pauseOf(err, pauses[try]))
	}
}

func repeatWith(key string) string {
	return fmt.Sprintf("repeat the command with --key %s, which never does it twice", key)
}

// withKey adds a hint to an error after which the message may have been sent.
func withKey(err error, key string, isRepeated bool) error {
	switch code := bridge.CodeOf(err); {
	case err == nil:
		return nil
	case code == bridge.CodeNotConnected: // a bridge that stops while it sends returns it too
		return hinted(err, "%s\n%s", hints[code], repeatWith(key))
	case code == bridge.CodeIdempotencyMismatch && isRepeated:
		return hinted(fmt.Errorf("it is unknown whether it was done, and the file has changed since: %w", err), "look in the chat before you do it again")
	}
	return err
}

// mayHaveLeft reports whether a failed attempt, or one before it, may have sent the message.
func mayHaveLeft(err error, isRepeated bool) bool {
	_, isFile := errors.AsType[*fileError](err)
	_, isUsage := errors.AsType[*UsageError](err)
	if isFile || isUsage {
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
		return isRepeated // the outcome of the attempt before is unknown
	}
	return refused.Status >= http.StatusInternalServerError // also from a proxy, while the bridge restarts
}

func pauseOf(err error, usual time.Duration) time.Duration {
	if refused, ok := errors.AsType[*client.Error](err); ok && refused.RetryAfter > 0 {
		return min(refused.RetryAfter, longestPause)
	}
	return usual
}
