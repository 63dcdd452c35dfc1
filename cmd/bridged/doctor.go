package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"bridged/internal/client"
	"bridged/internal/config"
	"bridged/internal/doctor"
	"bridged/internal/shell"
	"bridged/internal/wa"
)

// errFailed is the error of a report with failures, which was printed.
var errFailed = errors.New("not everything is in order: see what failed")

// doctorCommand looks whether a bridge, and what it needs, is in order. It prints a
// report, and fails if a check does.
func doctorCommand() *command {
	c := newCommand("doctor", "Check version, configuration, account, disk, network and clock, and print what to report.")
	asJSON := c.flags.Bool("json", false, "Print the findings as JSON.")
	c.run = func(e *environment, _ []string) error {
		report := doctor.Examine(e.ctx, checks(e.environ))
		var err error
		if *asJSON {
			encoder := json.NewEncoder(e.stdout)
			encoder.SetIndent("", "  ")
			err = encoder.Encode(report)
		} else {
			_, err = fmt.Fprint(e.stdout, shell.PrintableLines(report.String()))
		}
		if err == nil && !report.OK {
			err = errFailed
		}
		return err
	}
	return c
}

// checks returns what can be looked at in an environment, which may be faulty.
func checks(environ []string) []doctor.Check {
	c, faults := config.Examine(environ)
	way := doctor.Way{HTTP: c.Network.Client(), Simulated: c.Network.IsSimulated(), Proxied: c.Network.Proxy != nil}
	list := []doctor.Check{
		{Name: "version", Look: saying(doctor.Finding{Verdict: doctor.OK, Message: versionLine()}), Public: true},
		{Name: "client version", Look: clientVersion(c), Public: true},
		{Name: "configuration", Look: func(context.Context) []doctor.Finding { return findings(c, faults) }},
	}
	runs := func(context.Context) bool { return false }
	if _, err := config.Part(environ, (*config.Config).CheckListenAddr); err == nil {
		// It is asked for what needs no token, too.
		api := client.New("http://"+dialable(c.ListenAddr), c.Token)
		runs = func(ctx context.Context) bool { return api.Call(ctx, http.MethodGet, "/healthz", nil, nil) == nil }
		if _, err := config.Part(environ, (*config.Config).CheckToken); err == nil {
			list = append(list, doctor.Bridge(api, version))
		}
	}
	if c.DataDir != "" {
		list = append(list, doctor.DataDir(c.DataDir, runs))
	}
	return append(list, doctor.Network(way), doctor.Clock(way))
}

// saying returns a look that finds what is known already.
func saying(findings ...doctor.Finding) func(context.Context) []doctor.Finding {
	return func(context.Context) []doctor.Finding { return findings }
}

// findings returns the faults of a configuration, and what looks like one.
func findings(c config.Config, faults config.Faults) (found []doctor.Finding) {
	for _, fault := range faults {
		found = append(found, doctor.Finding{Verdict: doctor.Fail, Message: fault, Remedy: "change it; bridged does not start with it"})
	}
	for _, m := range c.Misspelt {
		found = append(found, doctor.Finding{Verdict: doctor.Warn, Message: m.String(), Remedy: "rename or remove it"})
	}
	if len(found) == 0 {
		sending := "off"
		if c.EnableSend {
			sending = "on"
		}
		found = append(found, doctor.Finding{Verdict: doctor.OK, Message: "valid; sending is " + sending})
	}
	return found
}

// clientVersion compares the version of WhatsApp Web that bridged says it is
// with the network's. A running bridge looks it up itself.
func clientVersion(c config.Config) func(context.Context) []doctor.Finding {
	known := "WhatsApp Web " + wa.ClientVersion() + " is built in"
	return func(ctx context.Context) []doctor.Finding {
		if c.Network.IsSimulated() {
			return []doctor.Finding{{Verdict: doctor.OK, Message: known + "; a simulated network takes any"}}
		}
		latest, err := wa.LatestClientVersion(ctx, &c.Network)
		if err != nil {
			return []doctor.Finding{{Verdict: doctor.Warn, Message: known + "; the network's is not known", Remedy: "see network"}}
		}
		return []doctor.Finding{{Verdict: doctor.OK, Message: known + ", the network has " + latest + ", which bridged takes over when it connects"}}
	}
}
