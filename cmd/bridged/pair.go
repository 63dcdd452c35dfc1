package main

import (
	"errors"
	"fmt"

	"bridged/internal/bridge"
	"bridged/internal/client"
)

// pairCommand links the account through a running bridge's own API.
type pairCommand struct {
	Phone string `help:"The account's phone number with the country code, if PHONE_NUMBER is not set." placeholder:"NUMBER"`
}

// Run asks for a code and shows it until the account is linked.
func (p pairCommand) Run(e *environment) error {
	c, err := newClient(e.environ)
	if err != nil {
		return err
	}
	defer c.Close()
	if err := tellProblem(e, c); err != nil {
		return err
	}
	code, err := p.ask(e, c)
	switch {
	case bridge.CodeOf(err) == bridge.CodeAlreadyPaired:
		return alreadyPaired(e, c)
	case err != nil:
		return err
	}
	return waitLinked(e, c, code)
}

// tellProblem prints at once why a code may take its time.
func tellProblem(e *environment, c *client.Client) error {
	status, err := c.Status(e.ctx)
	if err != nil || status.LastError == nil || status.QR != nil || status.User != nil {
		return err
	}
	return printf(e.stdout, "Note: %s\n", *status.LastError)
}

// ask requests a pairing code. Without a phone number it returns none, and the QR
// code is left.
func (p pairCommand) ask(e *environment, c *client.Client) (*bridge.PairingCode, error) {
	code, err := c.Pair(e.ctx, p.Phone)
	switch {
	case bridge.CodeOf(err) == bridge.CodeInvalid && p.Phone == "":
		return nil, nil
	case err != nil:
		return nil, err
	}
	return &code, nil
}

func alreadyPaired(e *environment, c *client.Client) error {
	status, err := c.Status(e.ctx)
	if err != nil {
		return err
	}
	return printf(e.stdout, "The account is paired already (status %s).\n", status.Status)
}

// waitLinked shows how to link the account until that is done.
func waitLinked(e *environment, c *client.Client, code *bridge.PairingCode) error {
	display, err := newPairDisplay(e.stdout, code)
	if err != nil {
		return err
	}
	_, err = c.WaitStatus(e.ctx, func(status bridge.Status) (bool, error) {
		if status.Status == bridge.StateOpen {
			return true, nil
		}
		return false, display.show(status)
	})
	err = errors.Join(err, display.close())
	switch {
	case e.ctx.Err() != nil:
		return nil // Ctrl-C
	case err != nil:
		return err
	}
	_, err = fmt.Fprintln(e.stdout, "Linked.")
	return err
}
