package main

import (
	"strconv"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"bridged/internal/config"
)

// limitValue is the value of a flag that limits a list. 0 means all.
type limitValue struct{ limit *int }

// Set parses the value.
func (v limitValue) Set(text string) error {
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 {
		return misused("--limit must be a number, 0 for all, but got %q", text)
	}
	*v.limit = n
	return nil
}

// String formats the value.
func (v limitValue) String() string { return strconv.Itoa(*v.limit) }

// Type returns the name of the value in the help.
func (limitValue) Type() string { return "NUMBER" }

// required makes a command fail without a flag.
func required(c *cobra.Command, flag string) {
	if err := c.MarkFlagRequired(flag); err != nil {
		panic(err) // there is no such flag
	}
}

// addLimit adds the flag that limits a list.
func addLimit(flags *pflag.FlagSet, limit *int, byDefault int, help string) {
	*limit = byDefault
	flags.VarP(limitValue{limit}, "limit", "n", help)
}

// addDuration adds a flag for a duration with its unit. Its default is 0.
func addDuration(flags *pflag.FlagSet, d *time.Duration, name, help string) {
	flags.Func(name, help, func(text string) error {
		read, err := config.ParseDuration(text)
		switch {
		case err != nil:
			return misused("--%s must be %v", name, err)
		case read < 0:
			return misused("--%s must not be negative", name)
		}
		*d = read
		return nil
	})
}
