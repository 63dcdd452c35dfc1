package main

import (
	"strconv"
	"time"

	"bridged/internal/config"
)

// limitValue is the value of a flag that limits a list: 0 is all.
type limitValue struct{ limit *int }

// Set reads the value.
func (v limitValue) Set(text string) error {
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 {
		return misused("--limit must be a number, 0 for all, but got %q", text)
	}
	*v.limit = n
	return nil
}

// String returns the value.
func (v limitValue) String() string { return strconv.Itoa(*v.limit) }

// Type returns the name of the value in the help.
func (limitValue) Type() string { return "int" }

// addLimit adds the flag that limits a list.
func (c *command) addLimit(limit *int, usual int, help string) {
	*limit = usual
	c.flags.VarP(limitValue{limit}, "limit", "n", help)
}

// addDuration adds a flag for a duration with its unit. Its default is 0.
func (c *command) addDuration(d *time.Duration, name, help string) {
	c.flags.Func(name, help, func(text string) error {
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
