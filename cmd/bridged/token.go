package main

import (
	"context"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"bridged/internal/bridge"
	"bridged/internal/client"
	"bridged/internal/shell"
)

func (e *environment) tokenCommand() *cobra.Command {
	return newGroup("token", "Manage tokens that may do less than BRIDGE_TOKEN.", e.createTokenCommand(), e.listTokensCommand(), e.revokeTokenCommand())
}

// createTokenCommand prints only the secret on standard output, for scripts, and the rest on
// standard error.
func (e *environment) createTokenCommand() *cobra.Command {
	var scopes, chats []string
	var expires time.Duration
	var asJSON bool
	c := e.bridgeCommand("create <name>", "Create a token and print its secret, which is shown once.", func(api *client.Client, args []string) error {
		wanted := client.NewToken{Name: args[0]}
		for _, scope := range scopes {
			wanted.Scopes = append(wanted.Scopes, bridge.Scope(scope))
		}
		for _, chat := range chats {
			wanted.Chats = append(wanted.Chats, bridge.JID(chat))
		}
		if expires != 0 {
			at := bridge.At(time.Now().Add(expires))
			wanted.ExpiresAt = &at
		}
		made, err := api.CreateToken(e.ctx, wanted)
		if err != nil {
			return shell.Explain(err)
		}
		if asJSON {
			return shell.PrintJSON(e.stdout, made)
		}
		if err := shell.Printf(e.stderr, "Token %d, %s. Its secret is not shown again:\n", made.ID, describe(made.Token)); err != nil {
			return err
		}
		return shell.Printf(e.stdout, "%s\n", made.Secret)
	})
	c.Flags().StringSliceVar(&scopes, "scopes", nil, "The `SCOPES` of the token, separated by commas: read, send, manage")
	offer(c.Flags(), "scopes", bridge.Scopes())
	c.Flags().StringSliceVar(&chats, "chats", nil, "The `JIDS` of its chats, separated by commas; all by default")
	addDuration(c.Flags(), &expires, "expires", "The `DURATION` after which it expires, such as 30d; never by default")
	addJSON(c.Flags(), &asJSON)
	required(c, "scopes")
	return example(c, "bridged token create desk --scopes read,send --expires 30d")
}

func (e *environment) listTokensCommand() *cobra.Command {
	return example(e.shellCommand("list", "List the tokens.", func(ctx context.Context, s *shell.Shell, _ []string) error {
		tokens, err := s.API.Tokens(ctx)
		switch {
		case err != nil:
			return err
		case !s.JSON:
			return printTokens(s.Out, tokens)
		}
		for _, token := range tokens {
			if err := shell.PrintJSON(s.Out, token); err != nil {
				return err
			}
		}
		return nil
	}), "bridged token list")
}

func (e *environment) revokeTokenCommand() *cobra.Command {
	const help = "Revoke a token and everything that was created with it.\n\n<id> is the token's number, from bridged token list."
	return example(e.shellCommand("revoke <id>", help, func(ctx context.Context, s *shell.Shell, args []string) error {
		return s.RevokeToken(ctx, args[0])
	}), "bridged token revoke 7")
}

func printTokens(w io.Writer, tokens []bridge.Token) error {
	if len(tokens) == 0 {
		return shell.Printf(w, "There are no tokens. BRIDGE_TOKEN may do everything; make one that may do less with: bridged token create\n")
	}
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprint(table, "ID\tNAME\tMAY\tEXPIRES\tLAST USED\n")
	for _, token := range tokens {
		name := token.Name
		if token.OAuthClient != nil { // clients choose their names
			name += " (" + *token.OAuthClient + ")"
		}
		err := shell.Printf(table, "%v\t%s\t%s\t%s\t%s\n", token.ID, name, describe(token), momentOr(token.ExpiresAt, "never"), momentOr(token.LastUsedAt, "never"))
		if err != nil {
			return err
		}
	}
	return table.Flush()
}

func describe(token bridge.Token) string {
	chats := bridge.Counted(len(token.Chats), "chat")
	switch len(token.Chats) {
	case 0:
		chats = "all chats"
	case 1:
		chats = "one chat"
	}
	return bridge.Join(token.Scopes, ", ") + " in " + chats
}

func momentOr(at *bridge.Time, none string) string {
	if at == nil {
		return none
	}
	return at.Local().Format("2006-01-02 15:04")
}
