package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"bridged/internal/bridge"
	"bridged/internal/client"
	"bridged/internal/pairscreen"
	"bridged/internal/shell"
)

// pairCommand asks a running bridge for a pairing code, and shows it until the account is linked.
func (e *environment) pairCommand() *cobra.Command {
	var phone string
	c := e.bridgeCommand("pair", "Link the account: show a code and a QR code, and wait until the phone has used one.", func(api *client.Client, _ []string) error {
		return pair(e, api, phone)
	})
	c.Flags().StringVar(&phone, "phone", "", "The account's phone `NUMBER` with the country code, if PHONE_NUMBER is not set")
	return c
}

func pair(e *environment, c *client.Client, phone string) error {
	status, err := c.Status(e.ctx)
	if err != nil {
		return err
	}
	if status.LastError != nil && status.QR == nil && status.User == nil { // the request for a code may wait
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
		return printPaired(e, c, status, fmt.Sprintf("The account is paired already (status %s)", status.Status))
	case bridge.CodeOf(err) == bridge.CodeInvalid && phone == "":
		return waitLinked(e, c, nil) // with the QR code alone
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
	status, err := c.WaitStatus(e.ctx, func(status bridge.Status) (bool, error) {
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
	return printPaired(e, c, status, "Linked")
}

// printPaired prints the paired account, the address of the console, and whether sending is off.
func printPaired(e *environment, c *client.Client, status bridge.Status, done string) error {
	whose := ""
	if user := status.User; user != nil {
		whose = ": +" + user.Phone
		if user.PushName != "" {
			whose += ", " + user.PushName
		}
	}
	if err := shell.Printf(e.stdout, "%s%s.\n", done, whose); err != nil {
		return err
	}
	if hasConsole(e.ctx, c.BaseURL()) {
		if err := shell.Printf(e.stdout, "The console is at %s/\n", strings.TrimSuffix(c.BaseURL(), "/")); err != nil {
			return err
		}
	}
	stats, err := c.Stats(e.ctx, bridge.At(time.Now()))
	if err != nil || stats.SendEnabled { // a token that has only the scope manage may not read them
		return nil
	}
	return shell.Printf(e.stdout, "Sending is off: set ENABLE_SEND=true and restart the bridge to switch it on.\n")
}

// hasConsole reports whether the bridge serves the console.
func hasConsole(ctx context.Context, base string) bool {
	ctx, cancel := context.WithTimeout(ctx, healthTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodHead, strings.TrimSuffix(base, "/")+"/login", nil)
	return err == nil && headOnce(req, http.StatusOK) == nil
}
