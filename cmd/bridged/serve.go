package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"slices"
	"time"

	"github.com/caarlos0/env/v11"
	"github.com/rs/zerolog"
	"github.com/spf13/cobra"

	"bridged/internal/client"
	"bridged/internal/config"
	"bridged/internal/dbfile"
	"bridged/internal/demo"
)

func (e *environment) serveCommand() *cobra.Command {
	return e.newCommand("serve", "Run the bridge (the default).", e.serve)
}

// serve runs the bridge until the context ends or a part of it fails.
func (e *environment) serve([]string) error {
	ignoreSIGPIPE()
	bridge, err := launch(e.ctx, e.environ, e.stderr)
	if e.ctx.Err() != nil && bridge == nil {
		return nil // stopped during the start
	}
	if err != nil {
		return err
	}
	if len(e.file.Set) > 0 {
		bridge.log.Info().Str("file", e.file.Name).Int("variables", len(e.file.Set)).Msg("variables were read from a file")
	}
	report := func(state string) {
		if err := notify(e.environ, state); err != nil {
			bridge.log.Warn().Err(err).Str("state", state).Msg("cannot notify systemd")
		}
	}
	report("READY=1")
	err = bridge.Wait(e.ctx)
	report("STOPPING=1")
	return errors.Join(err, bridge.Stop())
}

// notify sends the state of this process to systemd (sd_notify), if systemd started it.
func notify(environ []string, state string) error {
	socket := env.ToMap(environ)["NOTIFY_SOCKET"]
	if socket == "" {
		return nil
	}
	conn, err := net.Dial("unixgram", socket)
	if err != nil {
		return err
	}
	_, err = io.WriteString(conn, state)
	return errors.Join(err, conn.Close())
}

// demoCommand runs the bridge on a simulated network in this process. It ignores .env, because its
// events are not for the receivers of a real bridge.
func (e *environment) demoCommand() *cobra.Command {
	return withoutEnvFile(e.newCommand("demo", "Run the bridge on a simulated network, with people who write and answer.", func([]string) error {
		start := func(ctx context.Context, environ []string, log io.Writer) (demo.Bridge, error) {
			return launch(ctx, environ, log)
		}
		return demo.Run(e.ctx, start, e.environ, e.stdout, e.stderr)
	}))
}

// healthTimeout limits how long the answer to a health check may take.
const healthTimeout = 5 * time.Second

// healthcheckCommand calls /healthz of a running bridge, for container images without curl.
func (e *environment) healthcheckCommand() *cobra.Command {
	var flags bridgeFlags
	var asJSON bool
	const help = "Ask the running bridge whether it is alive (for containers).\n\n" +
		"It succeeds in every state of the account, without a token; bridged status --check asks whether reading and sending work."
	c := e.newCommand("healthcheck", help, func([]string) error {
		environ, base := flags.environ(e.environ), ""
		if _, err := config.Part(environ, findBridge(environ, &base)); err != nil {
			return err
		}
		ctx, cancel := context.WithTimeout(e.ctx, healthTimeout)
		defer cancel()
		return printCheck(e.stdout, asJSON, isAlive(ctx, base))
	})
	flags.addAddressTo(c.Flags())
	addJSON(c.Flags(), &asJSON)
	return c
}

// isAlive returns nil if a bridge answers at an address. Another program there, such as a proxy, gives
// another answer.
func isAlive(ctx context.Context, base string) error {
	api := client.New(base, "")
	defer api.Close()
	var health struct{ OK bool }
	err := api.Call(ctx, http.MethodGet, "/healthz", nil, &health)
	if err == nil && !health.OK {
		return fmt.Errorf("no bridge answers at %s", base)
	}
	return err
}

// greet logs the version, the address, the data directory, and warnings about the configuration.
func greet(log zerolog.Logger, c config.Config, address net.Addr) {
	for _, m := range slices.Concat(c.Misspelt, c.Warnings) {
		log.Warn().Msg(m)
	}
	if sentence := dbfile.Exposed(c.DataDir); sentence != "" {
		log.Warn().Msg(sentence)
	}
	if c.Network.IsSimulated() {
		log.Warn().Msg("WA_NETWORK_FILE is set: this is a simulated network, not WhatsApp")
	}
	dir, err := filepath.Abs(c.DataDir)
	if err != nil {
		dir = c.DataDir
	}
	log.Info().Str("version", version).Str("whatsmeow", libraryVersion()).Stringer("address", address).
		Str("data_dir", dir).Bool("enable_send", c.EnableSend).Msg("listening")
	if !c.EnableSend {
		log.Info().Msg("sending is off: set ENABLE_SEND=true to switch it on")
	}
}
