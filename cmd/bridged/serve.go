package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"time"

	"github.com/rs/zerolog"

	"bridged/internal/config"
	"bridged/internal/demo"
)

// serveCommand runs the bridge until the context ends or a part of it fails.
func serveCommand() *command {
	c := newCommand("serve", "Run the bridge (the default).")
	c.run = func(e *environment, _ []string) error {
		bridge, err := launch(e.ctx, e.environ, e.stderr)
		if e.ctx.Err() != nil && bridge == nil {
			return nil // stopped before it had begun
		}
		if err != nil {
			return err
		}
		return errors.Join(bridge.Wait(e.ctx), bridge.Stop())
	}
	return c
}

// demoCommand runs the bridge on a simulated network in this process.
func demoCommand() *command {
	c := newCommand("demo", "Run the bridge on a simulated network, with people who write and answer.")
	c.run = func(e *environment, _ []string) error {
		start := func(ctx context.Context, environ []string, log io.Writer) (demo.Bridge, error) {
			return launch(ctx, environ, log)
		}
		return demo.Run(e.ctx, start, e.environ, e.stdout, e.stderr)
	}
	return c
}

// healthTimeout limits how long the answer to a health check may take.
const healthTimeout = 5 * time.Second

// healthcheckCommand calls /healthz of a running bridge, so that an image without
// a shell can check itself. It fails unless the bridge answers.
func healthcheckCommand() *command {
	c := newCommand("healthcheck", "Ask the running bridge whether it is alive (for containers).")
	c.run = func(e *environment, _ []string) error {
		settings, err := config.Part(e.environ, (*config.Config).CheckListenAddr)
		if err != nil {
			return err
		}
		address := dialable(settings.ListenAddr)
		ctx, cancel := context.WithTimeout(e.ctx, healthTimeout)
		defer cancel()
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address+"/healthz", nil)
		if err != nil {
			return err
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			return fmt.Errorf("no bridge answers at %s: %w", address, err)
		}
		defer resp.Body.Close()
		if resp.StatusCode != http.StatusOK {
			return fmt.Errorf("the bridge at %s answered %s", address, resp.Status)
		}
		return nil
	}
	return c
}

// greet logs what everybody wants to know first: which program listens where,
// where its data is, and what is switched off or looks like a mistake. Whether
// the account is paired follows as soon as that is known.
func greet(log zerolog.Logger, c config.Config, address net.Addr) {
	for _, m := range c.Misspelt {
		log.Warn().Msg(m.String())
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
