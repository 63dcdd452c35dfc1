package wa

import (
	"context"

	"bridged/internal/bridge"
)

// command asks the supervisor for something and waits for the answer.
type command struct {
	kind commandKind
	ctx  context.Context
	done chan commandResult
}

type commandKind int

const (
	commandLogout commandKind = iota
	commandReconnect
	commandRenewPairing
)

type commandResult struct {
	unlinked bool
	err      error
}

// ask hands a command to the supervisor.
func (m *Manager) ask(ctx context.Context, kind commandKind) (commandResult, error) {
	c := command{kind: kind, ctx: ctx, done: make(chan commandResult, 1)}
	select {
	case m.commands <- c:
	case <-ctx.Done():
		return commandResult{}, ctx.Err()
	case <-m.background.Done():
		return commandResult{}, bridge.NotConnected("bridged is shutting down")
	}
	select {
	case result := <-c.done:
		return result, result.err
	case <-ctx.Done():
		return commandResult{}, ctx.Err()
	}
}

// Logout unlinks the account at the network when it is open, and wipes the
// session in any case. Without a session it succeeds and does nothing.
func (m *Manager) Logout(ctx context.Context) (unlinked bool, err error) {
	if m.Status().User == nil {
		return false, nil
	}
	result, err := m.ask(ctx, commandLogout)
	return result.unlinked, err
}

// Reconnect tries to connect now, also when the account was replaced by
// another client. Without a session it fails with [bridge.CodeNoSession].
func (m *Manager) Reconnect(ctx context.Context) error {
	if m.Status().User == nil {
		return bridge.Fail(bridge.CodeNoSession, "there is no session to reconnect: pair the account first")
	}
	_, err := m.ask(ctx, commandReconnect)
	return err
}
