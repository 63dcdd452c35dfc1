// Package demo runs a bridge on a simulated network with people who write and answer.
package demo

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/caarlos0/env/v11"

	"bridged/internal/bridge"
	"bridged/internal/client"
	"bridged/internal/simnet"
)

// ready bounds the time to set the demo up.
const ready = 60 * time.Second

// Bridge controls a running bridge.
type Bridge interface {
	// Client returns a client of its API, as reached from this machine.
	Client() *client.Client
	// LoginLink returns an address that logs in to the console once, or "" without a console.
	LoginLink() string
	// Wait waits until ctx ends or a part of the bridge fails.
	Wait(ctx context.Context) error
	// Stop shuts it down in order.
	Stop() error
}

// Start starts a bridge with the configuration in environ and writes its log to log. The program passes it in, because this package cannot
// import it.
type Start func(ctx context.Context, environ []string, log io.Writer) (Bridge, error)

// Run runs a bridge on a simulated network, plays a conversation and prints how to look at it, until ctx ends. The instructions go to stdout,
// the log to stderr.
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
	if given := env.ToMap(environ); given["NATS_URL"] != "" && given["DEMO_NUMBER"] == "" {
		fmt.Fprintln(stderr, "NATS_URL is not used: to join a fleet, set DEMO_NUMBER to a number that no other demo has, such as 15550100201.")
	}
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
	return d.run(ctx, server, stderr)
}

// run makes people talk until ctx ends or the bridge fails.
func (d *demo) run(ctx context.Context, server Bridge, stderr io.Writer) error {
	talking, stop := context.WithCancel(ctx)
	var talk sync.WaitGroup
	talk.Go(func() { d.talk(talking, time.After, stderr) })
	err := server.Wait(ctx)
	stop()
	talk.Wait()
	return err
}

// prepare returns the environment of a bridge on the demo's network and in its own directory, with sends enabled, and the account's number. A
// demo joins a fleet only if DEMO_NUMBER sets its number: two with one number would be one account.
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
	maps.Copy(vars, map[string]string{
		"WA_NETWORK_FILE": file, "DATA_DIR": filepath.Join(dir, "data"), "PHONE_NUMBER": number,
		"ENABLE_SEND": "true", "PROXY_URL": "",
	})
	for name, value := range map[string]string{
		"SIMULATED_FETCH_ALLOW": "127.0.0.0/8", // lets send-media fetch files without the internet
		"WEBHOOK_ALLOW_PRIVATE": "127.0.0.0/8", // receivers on this machine
		"RETENTION_DAYS":        "7",           // the talk never ends
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

// demo holds a network, its people, and a client of the bridge.
type demo struct {
	number  string // of the account
	network *simnet.Network
	api     *client.Client
	owner   *simnet.Phone
	people  map[string]*simnet.Phone
	hike    simnet.JID
	family  simnet.JID
	picture string // its download path

	loginLink func() string // returns an address that logs in to the console once
}

// setUp pairs the account through the bridge's own API and plays the conversation.
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

// settle waits until the bridge shows the whole conversation, and looks up the picture for the printed download command.
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
