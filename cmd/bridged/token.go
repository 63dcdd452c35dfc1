package main

import (
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"bridged/internal/bridge"
	"bridged/internal/client"
)

// tokenCommand manages tokens through a running bridge's own API.
type tokenCommand struct {
	Create createTokenCommand `cmd:"" help:"Make a token and print its secret, which is shown once."`
	List   listTokensCommand  `cmd:"" help:"List the tokens."`
	Revoke revokeTokenCommand `cmd:"" help:"Revoke a token, with all that was made with it."`
}

type createTokenCommand struct {
	Name    string        `arg:"" help:"What the token is for."`
	Scopes  []string      `required:"" placeholder:"SCOPE,…" help:"What it may do: read, send, manage."`
	Chats   []string      `placeholder:"JID,…" help:"The chats that exist for it; all by default."`
	Expires time.Duration `placeholder:"DURATION" help:"When it ends, from now on, as in 720h; never by default."`
}

// Run prints the secret alone, so that a script can take it; the rest goes to
// standard error.
func (k createTokenCommand) Run(e *environment) error {
	c, err := newClient(e.environ)
	if err != nil {
		return err
	}
	defer c.Close()
	wanted := client.NewToken{Name: k.Name}
	for _, scope := range k.Scopes {
		wanted.Scopes = append(wanted.Scopes, bridge.Scope(scope))
	}
	for _, chat := range k.Chats {
		wanted.Chats = append(wanted.Chats, bridge.JID(chat))
	}
	if k.Expires != 0 {
		at := bridge.At(time.Now().Add(k.Expires))
		wanted.ExpiresAt = &at
	}
	made, err := c.CreateToken(e.ctx, wanted)
	if err != nil {
		return err
	}
	if err := printf(e.stderr, "Token %d, %s. Its secret is not shown again:\n", made.ID, describe(made.Token)); err != nil {
		return err
	}
	return printf(e.stdout, "%s\n", made.Secret)
}

// describe returns what a token may do, in words.
func describe(token bridge.Token) string {
	scopes := make([]string, len(token.Scopes))
	for i, scope := range token.Scopes {
		scopes[i] = string(scope)
	}
	return strings.Join(scopes, ", ") + " in " + chatsOf(token)
}

func chatsOf(token bridge.Token) string {
	switch len(token.Chats) {
	case 0:
		return "all chats"
	case 1:
		return "one chat"
	}
	return fmt.Sprintf("%d chats", len(token.Chats))
}

type listTokensCommand struct{}

// Run prints a table.
func (listTokensCommand) Run(e *environment) error {
	c, err := newClient(e.environ)
	if err != nil {
		return err
	}
	defer c.Close()
	tokens, err := c.Tokens(e.ctx)
	if err != nil {
		return err
	}
	if len(tokens) == 0 {
		return printf(e.stdout, "There are no tokens. BRIDGE_TOKEN may do everything; make one that may do less with: bridged token create\n")
	}
	table := tabwriter.NewWriter(e.stdout, 0, 0, 2, ' ', 0)
	if err := printf(table, "ID\tNAME\tMAY\tEXPIRES\tLAST USED\n"); err != nil {
		return err
	}
	for _, token := range tokens {
		if err := printf(table, "%d\t%s\t%s\t%s\t%s\n", token.ID, printable(token.Name), describe(token), momentOr(token.ExpiresAt, "never"), momentOr(token.LastUsedAt, "never")); err != nil {
			return err
		}
	}
	return table.Flush()
}

// momentOr returns a moment to the minute, in local time.
func momentOr(at *bridge.Time, none string) string {
	if at == nil {
		return none
	}
	return at.Local().Format("2006-01-02 15:04")
}

type revokeTokenCommand struct {
	ID int64 `arg:"" help:"The token's number, from the list."`
}

// Run revokes the token.
func (k revokeTokenCommand) Run(e *environment) error {
	c, err := newClient(e.environ)
	if err != nil {
		return err
	}
	defer c.Close()
	if err := c.RevokeToken(e.ctx, k.ID); err != nil {
		return err
	}
	return printf(e.stdout, "Token %d is revoked.\n", k.ID)
}
