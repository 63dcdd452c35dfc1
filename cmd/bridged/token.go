package main

import (
	"fmt"
	"io"
	"strconv"
	"text/tabwriter"
	"time"

	"bridged/internal/bridge"
	"bridged/internal/client"
	"bridged/internal/shell"
)

func tokenCommand() *command {
	c := newCommand("token", "Manage tokens with less power than BRIDGE_TOKEN, through the running bridge.", nil)
	c.commands = []*command{createTokenCommand(), listTokensCommand(), revokeTokenCommand()}
	return c
}

// createTokenCommand prints the secret alone, so that a script can take it; the
// rest goes to standard error.
func createTokenCommand() *command {
	c := newCommand("create", "Make a token and print its secret, which is shown once.", nil, argument{name: "name", help: "What the token is for."})
	c.required = []string{"scopes"}
	scopes := c.flags.StringSlice("scopes", nil, "`SCOPE,…` What it may do: read, send, manage.")
	chats := c.flags.StringSlice("chats", nil, "`JID,…` The chats that exist for it; all by default.")
	var expires time.Duration
	c.addDuration(&expires, "expires", "`DURATION` When it ends, from now on, as in 30d; never by default.")
	return c.callsBridge(func(e *environment, api *client.Client, args []string) error {
		wanted := client.NewToken{Name: args[0]}
		for _, scope := range *scopes {
			wanted.Scopes = append(wanted.Scopes, bridge.Scope(scope))
		}
		for _, chat := range *chats {
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
		if err := shell.Printf(e.stderr, "Token %d, %s. Its secret is not shown again:\n", made.ID, describe(made.Token)); err != nil {
			return err
		}
		return shell.Printf(e.stdout, "%s\n", made.Secret)
	})
}

func listTokensCommand() *command {
	return newCommand("list", "List the tokens.", nil).callsBridge(func(e *environment, api *client.Client, _ []string) error {
		tokens, err := api.Tokens(e.ctx)
		if err != nil {
			return err
		}
		return printTokens(e.stdout, tokens)
	})
}

func revokeTokenCommand() *command {
	c := newCommand("revoke", "Revoke a token, with all that was made with it.", nil, argument{name: "id", help: "The token's number, from the list."})
	return c.callsBridge(func(e *environment, api *client.Client, args []string) error {
		id, err := strconv.ParseInt(args[0], 10, 64)
		if err != nil {
			return misused("<id>: expected the number of a token but got %q", args[0])
		}
		if err := api.RevokeToken(e.ctx, id); bridge.CodeOf(err) == bridge.CodeNotFound {
			return &shell.Error{Err: err, Hint: "list them with: bridged token list"}
		} else if err != nil {
			return shell.Explain(err)
		}
		return shell.Printf(e.stdout, "Token %d is revoked.\n", id)
	})
}

func printTokens(w io.Writer, tokens []bridge.Token) error {
	if len(tokens) == 0 {
		return shell.Printf(w, "There are no tokens. BRIDGE_TOKEN may do everything; make one that may do less with: bridged token create\n")
	}
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprint(table, "ID\tNAME\tMAY\tEXPIRES\tLAST USED\n")
	for _, token := range tokens {
		err := shell.Printf(table, "%v\t%s\t%s\t%s\t%s\n", token.ID, token.Name, describe(token), momentOr(token.ExpiresAt, "never"), momentOr(token.LastUsedAt, "never"))
		if err != nil {
			return err
		}
	}
	return table.Flush()
}

func describe(token bridge.Token) string {
	chats := fmt.Sprintf("%d chats", len(token.Chats))
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
