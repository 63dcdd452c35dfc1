package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"bridged/internal/bridge"
	"bridged/internal/shell"
)

const reconnectHelp = `Connect the account now, instead of at the next attempt.

Use it after another client has taken over the session, or to end a long pause. While logins are refused, more
attempts prolong the pause.`

func (e *environment) reconnectCommand() *cobra.Command {
	var wait time.Duration
	c := e.shellCommand("reconnect", reconnectHelp, func(ctx context.Context, s *shell.Shell, _ []string) error {
		err := s.API.Reconnect(ctx)
		if bridge.CodeOf(err) == bridge.CodeNoSession {
			return &shell.Error{Err: err, Hint: "link it with: bridged pair"}
		}
		if err != nil {
			return err
		}
		if wait > 0 {
			err = waitOpen(ctx, s, wait)
		}
		status, asked := s.API.Status(ctx)
		if asked != nil && bridge.CodeOf(asked) != bridge.CodeForbidden { // a token may manage and not read
			return errors.Join(err, asked)
		}
		return errors.Join(err, printState(s, status))
	})
	addDuration(c.Flags(), &wait, "wait", "Wait this `DURATION`, such as 30s, until the account is open, and fail if it is not")
	return example(c, "bridged reconnect --wait 30s")
}

// waitOpen waits until the account is open.
func waitOpen(ctx context.Context, s *shell.Shell, atMost time.Duration) error {
	limited, cancel := context.WithTimeout(ctx, atMost)
	defer cancel()
	_, err := s.API.WaitState(limited, bridge.StateOpen)
	if limited.Err() != nil && ctx.Err() == nil {
		return &shell.Error{Err: fmt.Errorf("the account is not open after %v", atMost), Hint: "bridged status says why"}
	}
	return err
}

// printState prints the account's state, which may be unknown.
func printState(s *shell.Shell, status bridge.Status) error {
	if s.JSON {
		return shell.PrintJSON(s.Out, struct {
			Status    *string `json:"status"` // null for unknown
			LastError *string `json:"lastError"`
		}{bridge.OrNil(string(status.Status)), status.LastError})
	}
	switch {
	case status.Status == "":
		return shell.Printf(s.Out, "The bridge connects.\n")
	case status.LastError != nil:
		return shell.Printf(s.Out, "The account is %s: %s\n", status.Status, *status.LastError)
	}
	return shell.Printf(s.Out, "The account is %s.\n", status.Status)
}

const logoutHelp = `Unlink the account and erase its session. Stored chats and messages stay.

On a terminal it asks first; elsewhere it needs --yes. To link the account again, run: bridged pair`

func (e *environment) logoutCommand() *cobra.Command {
	var yes bool
	c := e.shellCommand("logout", logoutHelp, func(ctx context.Context, s *shell.Shell, _ []string) error {
		own, err := s.API.OwnToken(ctx)
		switch {
		case err != nil:
			return err
		case own.Account == nil:
			return printLogout(s, loggedOut{})
		case !yes:
			if err = confirm(ctx, s.Notes, fmt.Sprintf("Unlink %s and erase its session?", whose(own.Account))); err != nil {
				return err
			}
		}
		unlinked, err := s.API.Logout(ctx)
		if err != nil {
			return err
		}
		return printLogout(s, loggedOut{LoggedOut: true, Unlinked: unlinked})
	})
	c.Flags().BoolVar(&yes, "yes", false, "Do not ask")
	return example(c, "bridged logout --yes")
}

// loggedOut is the outcome of a logout. LoggedOut is false if no account was linked.
type loggedOut struct {
	LoggedOut bool `json:"loggedOut"`
	Unlinked  bool `json:"unlinked"`
}

func printLogout(s *shell.Shell, done loggedOut) error {
	switch {
	case s.JSON:
		return shell.PrintJSON(s.Out, done)
	case !done.LoggedOut:
		return shell.Printf(s.Out, "No account is linked.\n")
	case !done.Unlinked:
		return shell.Printf(s.Out, "The session is erased, but WhatsApp did not confirm that the device is unlinked: remove it on the phone, under Linked devices.\n")
	}
	return shell.Printf(s.Out, "The account is unlinked, and the session is erased.\n")
}

var errDeclined = errors.New("nothing was done")

// confirm asks a question on the terminal. It returns nil if the answer is yes, and an error without a
// terminal.
func confirm(ctx context.Context, w io.Writer, question string) error {
	if !isTerminal(os.Stdin) {
		return shell.Usage("this cannot be undone, and there is no terminal to ask on: add --yes")
	}
	if err := shell.Printf(w, "%s [y/N] ", question); err != nil {
		return err
	}
	answered := make(chan string, 1)
	go func() { // a signal ends the program, and reading cannot be interrupted
		line, _ := bufio.NewReader(os.Stdin).ReadString('\n') // the end of the input means no
		answered <- line
	}()
	select {
	case <-ctx.Done():
		return errDeclined
	case answer := <-answered:
		switch strings.ToLower(strings.TrimSpace(answer)) {
		case "y", "yes":
			return nil
		}
		return errDeclined
	}
}
