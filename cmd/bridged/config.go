package main

import (
	"cmp"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"bridged/internal/bridge"
	"bridged/internal/config"
	"bridged/internal/shell"
	"bridged/internal/spelling"
)

const configHelp = `Show the configuration that this program reads: each variable, its value and where that is from.

<variable> is a variable to explain. Secrets are not shown. A bridge that runs under other variables, such as those of
a container or a service, has another configuration: run this command with the same ones.

The exit code is 2 if bridged would not start with these variables.`

func (e *environment) configCommand() *cobra.Command {
	var asJSON, onlySet bool
	c := e.newCommand("config [<variable>]", configHelp, func(args []string) error {
		explained := config.Explain(e.environ, e.file)
		variables, err := chosenVariables(explained, args)
		if err != nil {
			return err
		}
		if onlySet {
			variables = slices.DeleteFunc(variables, func(v config.Explained) bool { return !v.IsSet && v.Fault == "" })
		}
		if len(args) > 0 { // nothing is said about others
			explained = config.Explanation{Faults: slices.DeleteFunc(explained.Faults, func(string) bool { return variables[0].Fault == "" })}
		}
		if asJSON {
			err = printConfigJSON(e.stdout, variables, explained)
		} else {
			err = printConfig(e.stdout, terminalColumns(e), variables, explained, len(args) > 0)
		}
		if err == nil && len(explained.Faults) > 0 {
			err = shell.Usage("bridged does not start with this configuration: change what is marked")
		}
		return err
	})
	c.Flags().BoolVar(&onlySet, "set", false, "Only variables that are set, or that must be changed")
	addJSON(c.Flags(), &asJSON)
	return example(c, "bridged config --set", "bridged config RETENTION_DAYS")
}

// chosenVariables returns the variable that the arguments name, or all.
func chosenVariables(explained config.Explanation, args []string) ([]config.Explained, error) {
	if len(args) == 0 {
		return explained.Variables, nil
	}
	name := strings.ToUpper(args[0])
	i := slices.IndexFunc(explained.Variables, func(v config.Explained) bool { return v.Name == name })
	if i >= 0 {
		return explained.Variables[i : i+1], nil
	}
	if meant := spelling.Nearest(name, config.Variables(), 2); meant != "" {
		return nil, shell.Usage("bridged has no variable %s: did you mean %s?", args[0], meant)
	}
	return nil, shell.Usage("bridged has no variable %s: bridged config lists all", args[0])
}

// printConfig prints the variables for people.
func printConfig(w io.Writer, columns int, variables []config.Explained, explained config.Explanation, verbose bool) error {
	var rows []row
	for _, v := range variables {
		r := row{label: v.Name, text: valueText(v), remedy: v.Fault}
		if verbose {
			r.text += "\n" + shell.PlainMarkdown(v.About, "configuration.md")
			if v.Default != "" {
				r.text += "\nDefault: " + v.Default
			}
		}
		rows = append(rows, r)
	}
	for _, remark := range slices.Concat(explained.Unknown, explained.Remarks) {
		rows = append(rows, row{label: remark.Name, text: remark.Sentence})
	}
	return printRows(w, columns, rows)
}

// valueText returns a variable's value and where it is from.
func valueText(v config.Explained) string {
	var from []string
	switch {
	case v.IsSet:
		from = append(from, v.From)
	case v.Value != "":
		from = append(from, config.FromDefault)
	}
	if v.File != "" {
		from = append(from, v.File)
	}
	switch {
	case v.Override == "":
	case v.IsSet:
		from = append(from, "overrides "+v.Override)
	default:
		from = append(from, "the environment overrides "+v.Override)
	}
	text := cmp.Or(v.Value, "not set")
	if len(from) > 0 {
		text += "  (" + strings.Join(from, ", ") + ")"
	}
	return text
}

// configLine is a line of JSON. Known is false for a variable that bridged does not read; then only its
// name and the remark are there.
type configLine struct {
	Name     string  `json:"name"`
	Known    bool    `json:"known"`
	Value    *string `json:"value"`
	Secret   bool    `json:"secret"`
	From     *string `json:"from"`     // "environment", "default", or the name of a file; null if it has no value
	File     *string `json:"file"`     // the _FILE variable that the value comes from
	Override *string `json:"override"` // the file that sets it, too, in vain
	Default  *string `json:"default"`
	About    *string `json:"about"`
	Fault    *string `json:"fault"` // why bridged does not start
	Remark   *string `json:"remark"`
}

// printConfigJSON prints a line for each variable.
func printConfigJSON(w io.Writer, variables []config.Explained, explained config.Explanation) error {
	var lines []configLine
	for _, v := range variables {
		line := configLine{
			Name: v.Name, Known: true, Value: bridge.OrNil(v.Value), Secret: v.Secret, File: bridge.OrNil(v.File), Override: bridge.OrNil(v.Override),
			Default: bridge.OrNil(v.Default), About: bridge.OrNil(shell.PlainMarkdown(v.About, "configuration.md")), Fault: bridge.OrNil(v.Fault),
		}
		if v.IsSet || v.Value != "" {
			line.From = &v.From
		}
		lines = append(lines, line)
	}
	for _, remark := range slices.Concat(explained.Unknown, explained.Remarks) {
		lines = append(lines, configLine{Name: remark.Name, Remark: &remark.Sentence})
	}
	for _, line := range lines {
		if err := shell.PrintJSON(w, line); err != nil {
			return err
		}
	}
	return nil
}
