package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"bridged/internal/config"
	"bridged/internal/doctor"
	"bridged/internal/shell"
	"bridged/internal/store/storefile"
	"bridged/internal/wa"
)

// errFailed is returned after a report with failures was printed.
var errFailed = errors.New("some checks failed: follow the remedies in the report")

// doctorCommand checks a bridge and everything that it needs, prints a report, and fails if a check
// fails.
func (e *environment) doctorCommand() *cobra.Command {
	var asJSON bool
	var flags bridgeFlags
	c := e.newCommand("doctor", "Check version, configuration, account, disk, network and clock, and print a report.", func([]string) error {
		report := doctor.Examine(e.ctx, checks(flags.environ(e.environ)))
		var err error
		if asJSON {
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
	})
	c.Flags().BoolVar(&asJSON, "json", false, "Print the findings as JSON")
	flags.addTo(c.Flags())
	return c
}

// checks returns the checks that are possible in an environment, whose configuration may be invalid.
func checks(environ []string) []doctor.Check {
	c, faults := config.Examine(environ)
	way := doctor.Way{HTTP: c.Network.Client(), Simulated: c.Network.IsSimulated(), Proxied: c.Network.Proxy != nil}
	list := []doctor.Check{
		{Name: "version", Look: func(context.Context) []doctor.Finding {
			return []doctor.Finding{{Verdict: doctor.OK, Message: versionLine()}}
		}, Public: true},
		{Name: "configuration", Look: func(context.Context) []doctor.Finding { return findings(c, faults) }},
	}
	hasNetwork := !slices.ContainsFunc(faults, func(f string) bool {
		return strings.HasPrefix(f, "WA_NETWORK_FILE ") || strings.HasPrefix(f, "PROXY_URL ")
	})
	if hasNetwork { // otherwise it is unknown how to reach the network
		list = slices.Insert(list, 1, doctor.Check{Name: "client version", Look: clientVersion(c), Public: true})
	}
	list = append(list, ffmpegCheck(c), bridgeCheck(environ, c, faults))
	list = append(list, serviceChecks(c)...)
	if c.DataDir != "" {
		list = append(list, doctor.DataDir(c.DataDir, func(ctx context.Context) bool { return runsHere(ctx, environ) }, storefile.Database, wa.SessionFile()))
	}
	if hasNetwork {
		list = append(list, doctor.Network(way), doctor.Clock(way))
	}
	return list
}

// bridgeCheck returns the check of the bridge that the environment names. It does not repeat faults
// that the check of the configuration reports.
func bridgeCheck(environ []string, c config.Config, reported config.Faults) doctor.Check {
	api, err := newClient(environ)
	if err == nil {
		return doctor.Bridge(api, version, c.PhoneNumber)
	}
	return doctor.Check{Name: "bridge", Look: func(context.Context) (found []doctor.Finding) {
		faults, _ := errors.AsType[config.Faults](err)
		for _, fault := range faults {
			if !slices.Contains(reported, fault) {
				found = append(found, doctor.Finding{Verdict: doctor.Fail, Message: fault, Remedy: "change it, or unset it to ask the bridge on this machine"})
			}
		}
		return found
	}}
}

// runsHere reports whether a bridge listens at LISTEN_ADDR on this machine. That bridge uses DATA_DIR,
// and the one at BRIDGE_URL may be another.
func runsHere(ctx context.Context, environ []string) bool {
	c, err := config.Part(environ, (*config.Config).CheckListenAddr)
	return err == nil && isAlive(ctx, "http://"+dialable(c.ListenAddr)) == nil
}

// findings returns the faults and warnings of a configuration.
func findings(c config.Config, faults config.Faults) (found []doctor.Finding) {
	for _, fault := range faults {
		found = append(found, doctor.Finding{Verdict: doctor.Fail, Message: fault, Remedy: "change it; bridged does not start with it"})
	}
	for _, m := range c.Misspelt {
		found = append(found, doctor.Finding{Verdict: doctor.Warn, Message: m, Remedy: "rename or remove it"})
	}
	for _, w := range c.Warnings {
		message, remedy, _ := strings.Cut(w, ": ")
		found = append(found, doctor.Finding{Verdict: doctor.Warn, Message: message, Remedy: remedy})
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

// clientVersion compares the built-in version of WhatsApp Web with the network's.
func clientVersion(c config.Config) func(context.Context) []doctor.Finding {
	known := "WhatsApp Web " + wa.ClientVersion() + " is built in"
	if c.ClientVersion != "" {
		known += ", CLIENT_VERSION is " + c.ClientVersion
	}
	return func(ctx context.Context) []doctor.Finding {
		if c.Network.IsSimulated() {
			return []doctor.Finding{{Verdict: doctor.OK, Message: known + "; a simulated network accepts any"}}
		}
		latest, err := wa.LatestClientVersion(ctx, &c.Network)
		if err != nil {
			return []doctor.Finding{{Verdict: doctor.Warn, Message: known + "; the network's version is unknown", Remedy: "follow the remedy of the check network"}}
		}
		return []doctor.Finding{{Verdict: doctor.OK, Message: known + ", the network has " + latest.String() + ", which bridged uses when it connects"}}
	}
}
