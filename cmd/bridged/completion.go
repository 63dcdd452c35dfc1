package main

import (
	"context"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"bridged/internal/bridge"
	"bridged/internal/config"
	"bridged/internal/shell"
)

// completionTimeout limits how long a shell waits for the names of chats.
const completionTimeout = time.Second

// completionChats is how many chats are offered.
const completionChats = 200

// choices is the annotation of a flag with its values.
const choices = "choices"

// offer makes the shell complete the values of a flag.
func offer[T ~string](flags *pflag.FlagSet, name string, values []T) {
	texts := make([]string, len(values))
	for i, value := range values {
		texts[i] = string(value)
	}
	if err := flags.SetAnnotation(name, choices, texts); err != nil {
		panic(err) // the flag does not exist
	}
}

// completer finds the completions that a shell offers.
type completer struct{ *environment }

// complete makes the shell complete the arguments and flags of a command and of its subcommands. Their
// usage names the kind of each value, such as <chat>.
func (e completer) complete(c *cobra.Command) {
	if c.ValidArgsFunction == nil {
		c.ValidArgsFunction = func(c *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
			return e.offered(c, argumentAt(c, len(args)), typed)
		}
	}
	c.Flags().VisitAll(func(flag *pflag.Flag) {
		value, _ := pflag.UnquoteUsage(flag)
		err := c.RegisterFlagCompletionFunc(flag.Name, func(c *cobra.Command, _ []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
			if values := flag.Annotations[choices]; values != nil {
				return startingWith(values, strings.Contains(flag.Usage, "separated by commas"), typed), cobra.ShellCompDirectiveNoFileComp
			}
			return e.offered(c, strings.ToLower(value), typed)
		})
		if err != nil {
			panic(err) // the flag does not exist, or is completed already
		}
	})
	for _, child := range c.Commands() {
		e.complete(child)
	}
}

// argumentAt returns the word for an argument in a command's usage, such as chat, or "" if it takes no more.
func argumentAt(c *cobra.Command, index int) string {
	arguments := strings.Fields(c.Use)[1:]
	if len(arguments) > 0 && strings.Contains(arguments[len(arguments)-1], "...") {
		index = min(index, len(arguments)-1)
	}
	if index >= len(arguments) {
		return ""
	}
	return strings.Trim(arguments[index], "[]<>.")
}

// startingWith returns the values that start as typed. In a list only the last item is completed.
func startingWith(values []string, isList bool, typed string) (found []cobra.Completion) {
	before := ""
	if isList {
		before = typed[:strings.LastIndexByte(typed, ',')+1]
	}
	for _, value := range values {
		if strings.HasPrefix(before+value, typed) {
			found = append(found, before+value)
		}
	}
	return found
}

// offered returns the completions of a value, which usage texts name by a word.
func (e completer) offered(c *cobra.Command, word, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
	switch word {
	case "file", "path", "destination", "directory":
		return nil, cobra.ShellCompDirectiveDefault
	case "variable":
		return startingWith(config.Variables(), false, strings.ToUpper(typed)), cobra.ShellCompDirectiveNoFileComp
	case "command":
		var names []string
		for _, command := range c.Root().Commands() {
			names = append(names, command.Name())
		}
		return startingWith(names, false, typed), cobra.ShellCompDirectiveNoFileComp
	case "chat", "to", "who":
		return e.chatsStartingWith(c, bridge.ChatsAll, typed), cobra.ShellCompDirectiveNoFileComp
	case "person":
		return e.chatsStartingWith(c, bridge.ChatsIndividual, typed), cobra.ShellCompDirectiveNoFileComp
	case "group":
		return e.chatsStartingWith(c, bridge.ChatsGroup, typed), cobra.ShellCompDirectiveNoFileComp
	}
	return nil, cobra.ShellCompDirectiveNoFileComp
}

// chatsStartingWith asks the bridge for chats whose name or JID starts as typed. It returns none if the
// bridge does not answer at once.
func (e completer) chatsStartingWith(c *cobra.Command, kind bridge.ChatType, typed string) []cobra.Completion {
	if err := e.readEnvFile(c); err != nil {
		return nil
	}
	var flags bridgeFlags
	if address, token := c.Flag("address"), c.Flag("token-file"); address != nil && token != nil {
		flags = bridgeFlags{address.Value.String(), token.Value.String()}
	}
	api, err := newClient(flags.environ(e.environ))
	if err != nil {
		return nil
	}
	defer api.Close()
	ctx, cancel := context.WithTimeout(e.ctx, completionTimeout)
	defer cancel()
	page, err := api.Chats(ctx, bridge.ChatQuery{Type: kind, Q: typed, Limit: completionChats})
	if err != nil {
		return nil
	}
	return chatCompletions(page.Items, typed)
}

// chatCompletions returns the names of chats that start as typed, or the JIDs with the names as
// descriptions if a JID is typed or the name cannot be used.
func chatCompletions(chats []bridge.Chat, typed string) (found []cobra.Completion) {
	namesakes := map[string]int{}
	for _, chat := range chats {
		namesakes[chat.Name]++
	}
	for _, chat := range chats {
		jid := string(chat.JID)
		switch {
		case isTypable(chat.Name) && namesakes[chat.Name] == 1 && strings.HasPrefix(chat.Name, typed):
			found = append(found, chat.Name)
		case strings.HasPrefix(jid, typed):
			found = append(found, cobra.CompletionWithDesc(jid, shell.Printable(chat.Name)))
		}
	}
	return found
}

// isTypable reports whether a shell may put a name on the command line. People choose their names, and the
// start that several names have in common is not quoted: $(command) in it would run.
func isTypable(name string) bool {
	if name == "" || !unicode.IsLetter([]rune(name)[0]) {
		return false // a number, a JID, an @username or a flag, as a command would read it
	}
	return !strings.ContainsFunc(name, func(r rune) bool {
		if r < unicode.MaxASCII {
			return !slices.Contains([]rune(" .-_"), r) && !unicode.IsLetter(r) && !unicode.IsDigit(r)
		}
		return shell.IsUnsafe(r) || unicode.IsSpace(r)
	})
}
