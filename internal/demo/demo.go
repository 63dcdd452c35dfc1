// Package demo runs a bridge on a simulated network, with people who write and
// answer.
package demo

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/caarlos0/env/v11"

	"bridged/internal/bridge"
	"bridged/internal/client"
	"bridged/internal/simnet"
)

// ready bounds how long the demo may take to be set up.
const ready = 60 * time.Second

// Run runs a bridge on a simulated network, sets up a conversation and prints
// how to look at it, until ctx ends. What it prints goes to stdout, the log to
// stderr.
func Run(ctx context.Context, start Start, environ []string, stdout, stderr io.Writer) (err error) {
	dir, err := os.MkdirTemp("", "bridged-demo-*")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	network, err := simnet.New(context.WithoutCancel(ctx), simnet.Options{})
	if err != nil {
		return fmt.Errorf("start the simulated network: %w", err)
	}
	defer network.Close()
	environ, number, err := prepare(environ, network, dir)
	if err != nil {
		return err
	}
	server, err := start(ctx, environ, stderr)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, server.Stop()) }()
	fmt.Fprintln(stderr, "Setting up the simulated network …")
	d := &demo{number: number, network: network, api: server.Client(), loginLink: server.LoginLink}
	if err := d.setUp(ctx); err != nil {
		if ctx.Err() != nil {
			return nil
		}
		return fmt.Errorf("set up the demo: %w", err)
	}
	d.print(stdout)
	return d.run(ctx, server)
}

// run lets people talk until ctx ends, or they or the bridge fail.
func (d *demo) run(ctx context.Context, server Bridge) error {
	ctx, stop := context.WithCancel(ctx)
	talked := make(chan error, 1)
	go func() {
		defer stop()
		talked <- d.talk(ctx)
	}()
	err := server.Wait(ctx)
	stop()
	return errors.Join(err, <-talked)
}

// prepare returns the environment of a bridge on the demo's network and in its
// own directory, with sends enabled, and the account's number. A demo joins a fleet
// only where DEMO_NUMBER says as whom: two with one number would be one account.
func prepare(environ []string, network *simnet.Network, dir string) (_ []string, number string, err error) {
	file := filepath.Join(dir, "network.json")
	if err := network.WriteNetworkFile(file); err != nil {
		return nil, "", err
	}
	vars := env.ToMap(environ)
	number = usualNumber
	if vars["DEMO_NUMBER"] == "" {
		vars["NATS_URL"] = ""
	} else if number, err = bridge.ParsePhone(vars["DEMO_NUMBER"]); err != nil {
		return nil, "", fmt.Errorf("DEMO_NUMBER %w", err)
	}
	for name, value := range map[string]string{
		"WA_NETWORK_FILE": file, "DATA_DIR": filepath.Join(dir, "data"), "PHONE_NUMBER": number,
		"ENABLE_SEND": "true", "PROXY_URL": "",
	} {
		vars[name] = value
	}
	for name, value := range map[string]string{
		"SIMULATED_FETCH_ALLOW": "127.0.0.0/8", // something for send-media to fetch without the internet
		"WEBHOOK_ALLOW_PRIVATE": "127.0.0.0/8", // receivers on this machine
		"RETENTION_DAYS":        "7",           // people never stop talking
		"LOG_LEVEL":             "error",
	} {
		if vars[name] == "" {
			vars[name] = value
		}
	}
	if vars["BRIDGE_TOKEN"] == "" && vars["BRIDGE_TOKEN_FILE"] == "" {
		token := make([]byte, 12)
		_, _ = rand.Read(token) // never fails (crypto/rand)
		vars["BRIDGE_TOKEN"] = "demo-" + hex.EncodeToString(token)
	}
	list := make([]string, 0, len(vars))
	for name, value := range vars {
		list = append(list, name+"="+value)
	}
	return list, number, nil
}

// demo holds the stage: a network, its people, and the bridge seen from outside.
type demo struct {
	number  string // of the account
	network *simnet.Network
	api     *client.Client
	owner   *simnet.Phone
	people  map[string]*simnet.Phone
	hike    simnet.JID
	family  simnet.JID
	picture string // the path of its download

	loginLink func() string // an address that logs in to the console once
}

// setUp pairs the account through the bridge's own API and plays the
// conversation.
func (d *demo) setUp(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, ready)
	defer cancel()
	if err := d.castPeople(ctx); err != nil {
		return err
	}
	if err := d.pair(ctx); err != nil {
		return err
	}
	if err := d.play(ctx); err != nil {
		return err
	}
	return d.settle(ctx)
}

func (d *demo) pair(ctx context.Context) error {
	code, err := d.api.Pair(ctx, "")
	if err != nil {
		return err
	}
	if _, err := d.owner.EnterPairingCode(ctx, code.Code); err != nil {
		return err
	}
	_, err = d.api.WaitState(ctx, bridge.StateOpen)
	return err
}

// settle waits until the bridge shows the whole conversation, and looks up the
// picture that the printed lines download.
func (d *demo) settle(ctx context.Context) error {
	for event, err := range d.api.Events(ctx, client.EventQuery{After: "0", Types: []bridge.EventType{bridge.EventMessageCreated}}) {
		switch m := event.Message; {
		case err != nil:
			return err
		case m == nil:
		case m.MessageType == "imageMessage" && m.Media != nil:
			d.picture = m.Media.DownloadURL
		case m.Content == lastLine:
			return nil
		}
	}
	return ctx.Err()
}
