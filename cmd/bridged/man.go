package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"bridged/internal/shell"
)

const manHelp = `Print a manual page, or write the pages of all commands into a directory.

<command> is the command to describe, such as send or token create; by default bridged itself.`

// manCommand prints a manual page for man(1), or writes all of them, for packages of distributions.
func manCommand(e *environment, root *cobra.Command) *cobra.Command {
	var directory string
	c := e.newCommand("man [<command>...]", manHelp, func(args []string) error {
		if directory != "" && len(args) > 0 {
			return shell.Usage("--directory writes the pages of all commands: leave out %s", strings.Join(args, " "))
		}
		described, rest, err := root.Find(args)
		if err != nil || len(rest) > 0 {
			return shell.Usage("there is no command %s", strings.Join(args, " "))
		}
		root.DisableAutoGenTag = true
		listCommands(root)
		escapeArguments(root)
		header := &doc.GenManHeader{Section: "1", Source: "bridged " + version}
		if directory != "" {
			return doc.GenManTree(root, header, directory)
		}
		return printMan(e.stdout, described, header)
	})
	c.Flags().StringVar(&directory, "directory", "", "Write the pages of all commands into this `DIRECTORY`")
	return example(withoutEnvFile(c), "bridged man send | man -l -", "bridged man --directory /usr/local/share/man/man1")
}

func printMan(w io.Writer, c *cobra.Command, header *doc.GenManHeader) error {
	c.DisableAutoGenTag = true
	return doc.GenMan(c, header, w)
}

// listCommands adds the list of commands to the program's page.
func listCommands(root *cobra.Command) {
	var list strings.Builder
	for _, group := range root.Groups() {
		fmt.Fprintf(&list, "\n\n# %s\n", strings.ToUpper(strings.TrimSuffix(group.Title, ":")))
		for _, c := range root.Commands() {
			if c.GroupID == group.ID {
				fmt.Fprintf(&list, "**%s**\n: %s\n\n", c.Use, c.Short)
			}
		}
	}
	root.Long += list.String()
}

// escapeArguments escapes arguments such as <chat>, which the renderer would read as HTML.
func escapeArguments(c *cobra.Command) {
	c.Use, c.Long = strings.ReplaceAll(c.Use, "<", `\<`), strings.ReplaceAll(c.Long, "<", `\<`)
	for _, child := range c.Commands() {
		escapeArguments(child)
	}
}
