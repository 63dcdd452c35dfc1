package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"bridged/internal/client"
	"bridged/internal/doctor"
	"bridged/internal/wa"
)

// doctorCommand looks whether a bridge, and what it needs, is in order.
type doctorCommand struct {
	JSON bool `name:"json" help:"Print the findings as JSON."`
}

// errUnwell is the error of a report with failures, which was printed.
var errUnwell = errors.New("not everything is in order: see what failed")

// Run prints a report, and fails if a check does.
func (d doctorCommand) Run(e *environment) error {
	report := doctor.Examine(e.ctx, checks(e.environ))
	if err := d.print(e, report); err != nil {
		return err
	}
	if !report.OK {
		return errUnwell
	}
	return nil
}

func (d doctorCommand) print(e *environment, report doctor.Report) error {
	if d.JSON {
		encoder := json.NewEncoder(e.stdout)
		encoder.SetIndent("", "  ")
		return encoder.Encode(report)
	}
	_, err := fmt.Fprint(e.stdout, printableLines(report.String()))
	return err
}

// checks returns what can be looked at in an environment, which may be faulty.
func checks(environ []string) []doctor.Check {
	c, faults := parseConfig(environ)
	c.check(&faults)
	c.misspelt = misspellings(environ)
	way := doctor.Way{HTTP: c.network.Client(), Simulated: c.network.IsSimulated(), Proxied: c.network.Proxy != nil}
	list := []doctor.Check{
		{Name: "version", Look: saying(doctor.Finding{Verdict: doctor.OK, Message: versionLine()}), Public: true},
		{Name: "client version", Look: c.clientVersion, Public: true},
		{Name: "configuration", Look: func(context.Context) []doctor.Finding { return c.findings(faults) }},
	}
	var address, token configFaults
	c.checkListenAddr(&address)
	c.checkToken(&token)
	runs := func(context.Context) bool { return false }
	if len(address) == 0 {
		// It is asked for what needs no token, too.
		api := client.New("http://"+dialable(c.ListenAddr), c.Token)
		runs = func(ctx context.Context) bool { return api.Call(ctx, http.MethodGet, "/healthz", nil, nil) == nil }
		if len(token) == 0 {
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
func (c *config) findings(faults configFaults) (found []doctor.Finding) {
	for _, fault := range faults {
		found = append(found, doctor.Finding{Verdict: doctor.Fail, Message: fault, Remedy: "change it; bridged does not start with it"})
	}
	for _, m := range c.misspelt {
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
func (c *config) clientVersion(ctx context.Context) []doctor.Finding {
	known := "WhatsApp Web " + wa.ClientVersion() + " is built in"
	if c.network.IsSimulated() {
		return []doctor.Finding{{Verdict: doctor.OK, Message: known + "; a simulated network takes any"}}
	}
	latest, err := wa.LatestClientVersion(ctx, &c.network)
	if err != nil {
		return []doctor.Finding{{Verdict: doctor.Warn, Message: known + "; the network's is not known", Remedy: "see network"}}
	}
	return []doctor.Finding{{Verdict: doctor.OK, Message: known + ", the network has " + latest + ", which bridged takes over when it connects"}}
}
