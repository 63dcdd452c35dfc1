package shell

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"bridged/internal/bridge"
	"bridged/internal/client"
)

// A try whose outcome is not known is made again under the same key; one that
// surely sent nothing is not.
func TestSendOnce_RepeatsWhatMayHaveLeft(t *testing.T) {
	t.Parallel()
	lost, unreached := io.ErrUnexpectedEOF, error(&net.OpError{Op: "dial", Err: errors.New("connection refused")})
	unconfirmed := &client.Error{Status: http.StatusGatewayTimeout, Code: bridge.CodeSendTimeout, Message: "nobody answered"}
	inProgress := &client.Error{Status: http.StatusConflict, Code: bridge.CodeRequestInProgress, Message: "under way", RetryAfter: longestPause * 3}
	restarting := &client.Error{Status: http.StatusBadGateway, Code: bridge.CodeInternal}
	refused := &client.Error{Status: http.StatusBadRequest, Code: bridge.CodeInvalid, Message: "no"}
	changed := &client.Error{Status: http.StatusUnprocessableEntity, Code: bridge.CodeIdempotencyMismatch, Message: "another body"}
	offline := &client.Error{Status: http.StatusServiceUnavailable, Code: bridge.CodeNotConnected, Message: "not connected"}
	broken := &client.Error{Status: http.StatusInternalServerError, Code: bridge.CodeInternal, Message: "an internal error"}
	rejected := &client.Error{Status: http.StatusBadGateway, Code: bridge.CodeSendRefused, Message: "the network refused it"}
	repeat := "repeat the command with --key K1, which never does it twice"
	for name, c := range map[string]struct {
		outcomes []error // of each try; the last one stays
		tries    int
		hint     string
	}{
		"at once":                      {[]error{nil}, 1, ""},
		"lost, then sent":              {[]error{lost, nil}, 2, ""},
		"lost, then a restart":         {[]error{lost, unreached, unreached, restarting, nil}, 5, ""},
		"not confirmed":                {[]error{unconfirmed, inProgress, nil}, 3, ""},
		"lost, then refused":           {[]error{lost, refused}, 2, ""},
		"refused":                      {[]error{refused}, 1, ""},
		"not connected":                {[]error{offline}, 1, hints[bridge.CodeNotConnected] + "\n" + repeat},
		"lost, then not connected yet": {[]error{lost, unreached, offline, offline, nil}, 5, ""},
		"lost, then not connected":     {[]error{lost, offline}, len(pauses) + 1, repeat},
		"failed after it was sent":     {[]error{broken, nil}, 2, ""},
		"lost, then rejected":          {[]error{lost, rejected}, 2, ""},
		"no bridge":                    {[]error{unreached}, 1, ""},
		"no file":                      {[]error{&fileError{errors.New("permission denied")}}, 1, ""},
		"another body":                 {[]error{changed}, 1, ""},
		"lost, and the file changes":   {[]error{lost, changed}, 2, "look in the chat before you do it again"},
		"never known":                  {[]error{lost}, len(pauses) + 1, repeat},
		"lost, and not reached again":  {[]error{lost, unreached}, len(pauses) + 1, repeat},
		"not confirmed, over and over": {[]error{unconfirmed}, len(pauses) + 1, repeat},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s, _ := onTerminal(80)
				tries := 0
				_, err := once(t.Context(), s, "K1", func(context.Context) (client.Sent, error) {
					outcome := c.outcomes[min(tries, len(c.outcomes)-1)]
					tries++
					return client.Sent{}, outcome
				})
				if last := c.outcomes[len(c.outcomes)-1]; !errors.Is(err, last) || tries != c.tries {
					t.Errorf("%d tries, %v; want %d, %v", tries, err, c.tries, last)
				}
				var said *Error
				if errors.As(err, &said) != (c.hint != "") || said != nil && said.Hint != c.hint {
					t.Errorf("%v with the hint %+v, want %q", err, said, c.hint)
				}
			})
		})
	}
}

// Who interrupts it learns that the message may have left, and how to go on.
func TestSendOnce_Interrupted(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, _ := onTerminal(80)
		ctx, cancel := context.WithCancel(t.Context())
		_, err := once(ctx, s, "K1", func(context.Context) (client.Sent, error) {
			cancel()
			return client.Sent{}, context.Canceled
		})
		var said *Error
		if !errors.As(err, &said) || !strings.Contains(said.Hint, "--key K1") || !errors.Is(err, context.Canceled) {
			t.Errorf("got %v, %+v", err, said)
		}
	})
}

// Who interrupts it just as it has ended learns how it went.
func TestSendOnce_InterruptedAtItsEnd(t *testing.T) {
	t.Parallel()
	refused := &client.Error{Status: http.StatusBadRequest, Code: bridge.CodeInvalid, Message: "no"}
	for _, outcome := range []error{nil, refused} {
		s, out := onTerminal(80)
		ctx, cancel := context.WithCancel(t.Context())
		sent, err := once(ctx, s, "K1", func(context.Context) (client.Sent, error) {
			cancel()
			return client.Sent{ID: "M1"}, outcome
		})
		if err != outcome || sent.ID != "M1" || out.Len() != 0 {
			t.Errorf("ended with %v: %+v, %v, %q", outcome, sent, err, out)
		}
	}
}

func TestReadText(t *testing.T) {
	t.Parallel()
	for given, want := range map[string]string{"": "", "a\n": "a", "a\r\n": "a", "a\n\n": "a\n", " a ": " a ", "a": "a"} {
		if got, err := ReadText(strings.NewReader(given)); err != nil || got != want {
			t.Errorf("%q is %q, %v; want %q", given, got, err, want)
		}
	}
	if got, err := ReadText(strings.NewReader(strings.Repeat("漢", maxText) + "\n")); err != nil || len(got) != 3*maxText {
		t.Errorf("the longest text has %d bytes, %v", len(got), err)
	}
	var usage *UsageError
	if _, err := ReadText(bytes.NewReader(bytes.Repeat([]byte("a"), maxText+1))); !errors.As(err, &usage) {
		t.Errorf("a longer one: %v", err)
	}
	if _, err := ReadText(io.MultiReader(strings.NewReader("a"), failing{})); !errors.Is(err, errBroken) {
		t.Errorf("one that breaks off: %v", err)
	}
}

var errBroken = errors.New("broken")

type failing struct{}

func (failing) Read([]byte) (int, error) { return 0, errBroken }
