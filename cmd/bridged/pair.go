package main

import (
	"errors"
	"fmt"

	"bridged/internal/bridge"
	"bridged/internal/client"
	"bridged/internal/pairscreen"
	"bridged/internal/shell"
)

// pairCommand asks a running bridge for a pairing code, and shows it until the account
// is linked.
func pairCommand() *command {
	c := newCommand("pair", "Link the account: show a code and a QR code, and wait until the phone has used one.", nil)
	phone := c.flags.String("phone", "", "`NUMBER` The account's phone number with the country code, if PHONE_NUMBER is not set.")
	return c.callsBridge(func(e *environment, api *client.Client, _ []string) error { return pair(e, api, *phone) })
}

func pair(e *environment, c *client.Client, phone string) error {
	status, err := c.Status(e.ctx)
	if err != nil {
		return err
	}
	if status.LastError != nil && status.QR == nil && status.User == nil { // a code may take its time
		if err := shell.Printf(e.stdout, "Note: %s\n", *status.LastError); err != nil {
			return err
		}
	}
	code, err := c.Pair(e.ctx, phone)
	switch {
	case bridge.CodeOf(err) == bridge.CodeAlreadyPaired:
		if status, err = c.Status(e.ctx); err != nil {
			return err
		}
		return shell.Printf(e.stdout, "The account is paired already (status %s).\n", status.Status)
	case bridge.CodeOf(err) == bridge.CodeInvalid && phone == "":
		return waitLinked(e, c, nil) // the QR code is left
	case err != nil:
		return err
	}
	return waitLinked(e, c, &code)
}

func waitLinked(e *environment, c *client.Client, code *bridge.PairingCode) error {
	display, err := pairscreen.New(e.stdout, code)
	if err != nil {
		return err
	}
	_, err = c.WaitStatus(e.ctx, func(status bridge.Status) (bool, error) {
		if status.Status == bridge.StateOpen {
			return true, nil
		}
		return false, display.Show(status)
	})
	err = errors.Join(err, display.Close())
	switch {
	case e.ctx.Err() != nil:
		return nil // Ctrl-C
	case err != nil:
		return err
	}
	_, err = fmt.Fprintln(e.stdout, "Linked.")
	return err
}
