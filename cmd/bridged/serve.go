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

	"bridged/internal/client"
	"bridged/internal/config"
	"bridged/internal/dbfile"
	"bridged/internal/demo"
)

// serveCommand runs the bridge until the context ends or a part of it fails.
func serveCommand() *command {
	return newCommand("serve", "Run the bridge (the default).", func(e *environment, _ []string) error {
		outliveReaders()
		bridge, err := launch(e.ctx, e.environ, e.stderr)
		if e.ctx.Err() != nil && bridge == nil {
			return nil // stopped before it had begun
		}
		if err != nil {
			return err
		}
		if e.envFile != "" {
			bridge.log.Info().Str("file", e.envFile).Int("variables", e.fromFile).Msg("variables were read from a file")
		}
		tell := func(state string) {
			if err := notify(e.environ, state); err != nil {
				bridge.log.Warn().Err(err).Str("state", state).Msg("the service manager was not told")
			}
		}
		tell("READY=1")
		err = bridge.Wait(e.ctx)
		tell("STOPPING=1")
		return errors.Join(err, bridge.Stop())
	})
}

// notify tells the service manager that started this process about its state (sd_notify); there
// may be none.
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

// demoCommand runs the bridge on a simulated network in this process.
func demoCommand() *command {
	c := newCommand("demo", "Run the bridge on a simulated network, with people who write and answer.", func(e *environment, _ []string) error {
		start := func(ctx context.Context, environ []string, log io.Writer) (demo.Bridge, error) {
			return launch(ctx, environ, log)
		}
		return demo.Run(e.ctx, start, e.environ, e.stdout, e.stderr)
	})
	return c.withoutEnvFile() // its events are not for the receivers of a real bridge
}

// healthTimeout limits how long the answer to a health check may take.
const healthTimeout = 5 * time.Second

// healthcheckCommand calls /healthz of a running bridge, so that an image without a
// shell can check itself.
func healthcheckCommand() *command {
	c := newCommand("healthcheck", "Ask the running bridge whether it is alive (for containers).", nil)
	var flags bridgeFlags
	flags.addAddressTo(c)
	c.run = func(e *environment, _ []string) error {
		environ, base := flags.environ(e.environ), ""
		if _, err := config.Part(environ, findBridge(environ, &base)); err != nil {
			return err
		}
		ctx, cancel := context.WithTimeout(e.ctx, healthTimeout)
		defer cancel()
		return isAlive(ctx, base)
	}
	return c
}

// isAlive asks the bridge at an address, which needs no token. What else may be there, such as a
// proxy, does not answer as it does.
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

// greet logs which program listens where, where its data is, and which settings are
// off or look like a mistake.
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
