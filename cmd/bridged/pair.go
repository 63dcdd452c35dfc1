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

const pairHelp = `Link the account: show a code and a QR code, and wait until the phone has used one.

With --json, each line is an event: code (a pairing code), qr (the text of a QR code, which replaces the one before),
passkey, note (a problem; linking goes on), and last paired or error.`

// pairCommand asks a running bridge for a pairing code, and shows it until the account is linked.
func (e *environment) pairCommand() *cobra.Command {
	var phone string
	var asJSON bool
	c := e.bridgeCommand("pair", pairHelp, func(api *client.Client, _ []string) error {
		p := pairing{e, api, asJSON}
		err := p.run(phone)
		if err == nil || !asJSON {
			return err
		}
		return errors.Join(err, shell.PrintJSON(e.stdout, struct {
			Event string      `json:"event"`
			Error string      `json:"error"`
			Code  bridge.Code `json:"code"` // of the API; "internal" if it was not reached
		}{"error", err.Error(), bridge.CodeOf(err)}))
	})
	c.Flags().StringVar(&phone, "phone", "", "The account's phone `NUMBER` with the country code, if PHONE_NUMBER is not set")
	addJSON(c.Flags(), &asJSON)
	return c
}

// pairing is a run of bridged pair.
type pairing struct {
	e      *environment
	c      *client.Client
	asJSON bool
}

func (p pairing) run(phone string) error {
	status, err := p.c.Status(p.e.ctx)
	if err != nil {
		return err
	}
	if phone == "" && status.User != nil {
		return p.printPaired(status, true)
	}
	// The request for a code may wait.
	if status.LastError != nil && status.QR == nil && status.User == nil && !p.asJSON {
		if err := shell.Printf(p.e.stdout, "Note: %s\n", *status.LastError); err != nil {
			return err
		}
	}
	code, err := p.c.Pair(p.e.ctx, phone)
	switch {
	case bridge.CodeOf(err) == bridge.CodeAlreadyPaired:
		if status, err = p.c.Status(p.e.ctx); err != nil {
			return err
		}
		return p.printPaired(status, true)
	case bridge.CodeOf(err) == bridge.CodeInvalid && phone == "":
		return p.wait(nil) // with the QR code alone
	case err != nil:
		return err
	}
	return p.wait(&code)
}

// wait shows codes until the account is linked.
func (p pairing) wait(code *bridge.PairingCode) error {
	show := pairscreen.New
	if p.asJSON {
		show = pairscreen.NewEvents
	}
	display, err := show(p.e.stdout, code)
	if err != nil {
		return err
	}
	status, err := p.c.WaitStatus(p.e.ctx, func(status bridge.Status) (bool, error) {
		if status.Status == bridge.StateOpen {
			return true, nil
		}
		return false, display.Show(status)
	})
	err = errors.Join(err, display.Close())
	switch {
	case p.e.ctx.Err() != nil:
		return nil // Ctrl-C
	case err != nil:
		return err
	}
	return p.printPaired(status, false)
}

// printPaired prints the paired account, the address of the console, and whether sending is off.
func (p pairing) printPaired(status bridge.Status, already bool) error {
	var console string
	if hasConsole(p.e.ctx, p.c.BaseURL()) {
		console = strings.TrimSuffix(p.c.BaseURL(), "/") + "/"
	}
	var sends *bool // nil if the token may not know it: it may have only the scope manage
	if stats, err := p.c.Stats(p.e.ctx, bridge.At(time.Now())); err == nil {
		sends = &stats.SendEnabled
	}
	if p.asJSON {
		return shell.PrintJSON(p.e.stdout, struct {
			Event       string       `json:"event"`
			Already     bool         `json:"already"` // linked before
			Status      bridge.State `json:"status"`
			User        *bridge.User `json:"user"`
			Console     *string      `json:"console"`
			SendEnabled *bool        `json:"sendEnabled"`
		}{"paired", already, status.Status, status.User, bridge.OrNil(console), sends})
	}
	done := "Linked"
	if already {
		done = fmt.Sprintf("The account is paired already (status %s)", status.Status)
	}
	lines := []string{done + ": " + whose(status.User) + "."}
	if console != "" {
		lines = append(lines, "The console is at "+console)
	}
	if sends != nil && !*sends {
		lines = append(lines, "Sending is off: set ENABLE_SEND=true and restart the bridge to switch it on.")
	}
	_, err := fmt.Fprintln(p.e.stdout, shell.PrintableLines(strings.Join(lines, "\n")))
	return err
}

// hasConsole reports whether the bridge serves the console.
func hasConsole(ctx context.Context, base string) bool {
	ctx, cancel := context.WithTimeout(ctx, healthTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodHead, strings.TrimSuffix(base, "/")+"/login", nil)
	return err == nil && headOnce(req, http.StatusOK) == nil
}
