package main

import (
	"fmt"
	"io"
	"strings"
	"time"

	"rsc.io/qr"

	"bridged/internal/bridge"
	"bridged/internal/client"
)

// pairCommand links the account through a running bridge's own API.
type pairCommand struct {
	Phone string `help:"The account's phone number in E.164 digits, where PHONE_NUMBER is not set." placeholder:"DIGITS"`
}

// Run is called by kong.
func (p pairCommand) Run(e *environment) error {
	c, err := newClient(e.environ)
	if err != nil {
		return err
	}
	defer c.Close()
	code, err := c.Pair(e.ctx, p.Phone)
	switch {
	case bridge.CodeOf(err) == bridge.CodeAlreadyPaired:
		return p.alreadyPaired(e, c)
	case bridge.CodeOf(err) == bridge.CodeInvalid && p.Phone == "":
		fmt.Fprintln(e.stdout, "No phone number is configured, so there is no code: scan the QR code, or call again with --phone.")
	case err != nil:
		return err
	default:
		err := printf(e.stdout, "Pairing code: %s\n%s\nIt is valid until %s. Or scan the QR code:\n\n",
			code.Code, code.Hint, code.ExpiresAt.Local().Format(time.TimeOnly))
		if err != nil {
			return err
		}
	}
	return waitLinked(e, c)
}

func (pairCommand) alreadyPaired(e *environment, c *client.Client) error {
	status, err := c.Status(e.ctx)
	if err != nil {
		return err
	}
	return printf(e.stdout, "The account is paired already (status %s).\n", status.Status)
}

// waitLinked draws each new QR code until the account is open.
func waitLinked(e *environment, c *client.Client) error {
	shown, lastError := "", ""
	_, err := c.WaitStatus(e.ctx, func(status bridge.Status) (bool, error) {
		if status.QR != nil && *status.QR != shown {
			shown = *status.QR
			if err := drawQR(e.stdout, shown); err != nil {
				return false, err
			}
		}
		if status.LastError != nil && *status.LastError != lastError {
			lastError = *status.LastError
			if err := printf(e.stdout, "Note: %s\n", lastError); err != nil {
				return false, err
			}
		}
		return status.Status == bridge.StateOpen, nil
	})
	switch {
	case e.ctx.Err() != nil:
		return nil // Ctrl-C
	case err != nil:
		return err
	}
	_, err = fmt.Fprintln(e.stdout, "Linked.")
	return err
}

// drawQR draws with half blocks, two rows of modules to a line, light on the
// terminal's dark.
func drawQR(w io.Writer, text string) error {
	code, err := qr.Encode(text, qr.L)
	if err != nil {
		return fmt.Errorf("draw the QR code: %w", err)
	}
	const quiet = 2
	blocks := map[[2]bool]string{{true, true}: " ", {true, false}: "▄", {false, true}: "▀", {false, false}: "█"}
	var b strings.Builder
	for y := -quiet; y < code.Size+quiet; y += 2 {
		for x := -quiet; x < code.Size+quiet; x++ {
			b.WriteString(blocks[[2]bool{code.Black(x, y), code.Black(x, y+1)}])
		}
		b.WriteByte('\n')
	}
	_, err = fmt.Fprintln(w, b.String())
	return err
}
