package main

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"bridged/internal/bridge"
	"bridged/internal/config"
)

// required makes a command fail without a flag.
func required(c *cobra.Command, flag string) {
	if err := c.MarkFlagRequired(flag); err != nil {
		panic(err) // the flag does not exist
	}
}

// addJSON adds the flag for output that programs read.
func addJSON(flags *pflag.FlagSet, asJSON *bool) {
	flags.BoolVar(asJSON, "json", false, "Print JSON, one object per line")
}

// addLimit adds the flag that limits a list.
func addLimit(flags *pflag.FlagSet, limit *int, byDefault int) {
	*limit = byDefault
	flags.FuncP("limit", "n", fmt.Sprintf("Print at most this `NUMBER`; 0 prints all (default %d)", byDefault), func(text string) (err error) {
		if *limit, err = strconv.Atoi(text); err != nil || *limit < 0 {
			return errors.New("must be a number, 0 for all")
		}
		return nil
	})
}

// addDuration adds a flag for a duration with its unit. Its default is 0.
func addDuration(flags *pflag.FlagSet, d *time.Duration, name, help string) {
	flags.Func(name, help, func(text string) (err error) {
		if *d, err = config.ParseDuration(text); err != nil {
			return fmt.Errorf("must be %w", err)
		}
		if *d < 0 {
			return errors.New("must not be negative")
		}
		return nil
	})
}

// addOptionalChoice is [addChoice] for a value that stays nil without the flag.
func addOptionalChoice[T ~string](flags *pflag.FlagSet, chosen **T, name, help string, choices ...T) {
	var value T
	addChoice(flags, &value, name, help, choices...)
	flag := flags.Lookup(name)
	flag.Value = &optional[T]{flag.Value, &value, chosen}
}

// optional is the value of a flag that sets a pointer.
type optional[T any] struct {
	pflag.Value
	value *T
	set   **T
}

// Set sets the pointer if the value is valid.
func (o *optional[T]) Set(text string) error {
	err := o.Value.Set(text)
	if err == nil {
		*o.set = o.value
	}
	return err
}

// addChoice adds a flag that has one of some values.
func addChoice[T ~string](flags *pflag.FlagSet, chosen *T, name, help string, choices ...T) {
	flags.Func(name, help+": "+bridge.Join(choices, ", "), func(value string) error {
		if *chosen = T(value); !slices.Contains(choices, *chosen) {
			return fmt.Errorf("must be one of %s", bridge.Join(choices, ", "))
		}
		return nil
	})
	offer(flags, name, choices)
}

// addSwitch adds a flag that is true or false. set stays nil without it.
func addSwitch(flags *pflag.FlagSet, set **bool, name, help string) {
	flags.BoolFunc(name, help, func(value string) error {
		is, err := strconv.ParseBool(value)
		if err != nil {
			return errors.New("must be true or false")
		}
		*set = &is
		return nil
	})
}

// addText adds a flag for a text that may be empty. set stays nil without it.
func addText(flags *pflag.FlagSet, set **string, name, help string) {
	flags.Func(name, help, func(value string) error {
		*set = &value
		return nil
	})
}

// addList adds a flag for values separated by commas. set stays nil without it.
func addList(flags *pflag.FlagSet, set **[]string, name, help string) {
	flags.Func(name, help, func(value string) error {
		*set = new(strings.Split(value, ","))
		return nil
	})
}

// addRepeated adds a flag that may be repeated. set stays nil without it.
func addRepeated(flags *pflag.FlagSet, set **[]string, name, help string) {
	flags.Func(name, help, func(value string) error {
		if *set == nil {
			*set = new([]string)
		}
		**set = append(**set, value)
		return nil
	})
}
