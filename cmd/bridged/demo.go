package main

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"github.com/caarlos0/env/v11"
	"github.com/rs/zerolog"

	"bridged/internal/bridge"
	"bridged/internal/simnet"
)

// demoCommand runs the bridge on a simulated network in this process.
type demoCommand struct{}

// demoReady bounds how long the demo may take to be set up.
const demoReady = 60 * time.Second

// Run is called by kong.
func (demoCommand) Run(e *environment) (err error) {
	dir, err := os.MkdirTemp("", "bridged-demo-*")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	network, err := simnet.New(context.WithoutCancel(e.ctx), simnet.Options{})
	if err != nil {
		return fmt.Errorf("start the simulated network: %w", err)
	}
	defer network.Close()
	c, err := demoConfig(e.environ, network, dir)
	if err != nil {
		return err
	}
	server, err := start(e.ctx, c, newLog(e.stderr, c.level, c.LogFormat))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, server.stop()) }()
	fmt.Fprintln(e.stderr, "Setting up the simulated network …")
	address, err := dialable(server.address.String())
	if err != nil {
		return err
	}
	d := &demo{network: network, api: &client{base: "http://" + address, token: c.Token}}
	if err := d.setUp(e.ctx); err != nil {
		if e.ctx.Err() != nil {
			return nil
		}
		return fmt.Errorf("set up the demo: %w", err)
	}
	d.print(e.stdout)
	return server.wait(e.ctx)
}

// demoConfig is the environment's configuration, on the demo's network and
// in its own directory, with sends enabled.
func demoConfig(environ []string, network *simnet.Network, dir string) (config, error) {
	file := filepath.Join(dir, "network.json")
	if err := network.WriteNetworkFile(file); err != nil {
		return config{}, err
	}
	vars := env.ToMap(environ)
	for name, value := range map[string]string{
		"WA_NETWORK_FILE": file, "DATA_DIR": filepath.Join(dir, "data"), "PHONE_NUMBER": demoNumber,
		"ENABLE_SEND": "true", "PROXY_URL": "",
	} {
		vars[name] = value
	}
	if vars["BRIDGE_TOKEN"] == "" && vars["BRIDGE_TOKEN_FILE"] == "" {
		token := make([]byte, 12)
		_, _ = rand.Read(token) // never fails (crypto/rand)
		vars["BRIDGE_TOKEN"] = "demo-" + hex.EncodeToString(token)
	}
	if vars["LOG_LEVEL"] == "" {
		vars["LOG_LEVEL"] = zerolog.LevelErrorValue
	}
	list := make([]string, 0, len(vars))
	for name, value := range vars {
		list = append(list, name+"="+value)
	}
	return readConfig(list)
}

// demo is the stage: a network, its people, and the bridge seen from outside.
type demo struct {
	network *simnet.Network
	api     *client
	owner   *simnet.Phone
	people  map[string]*simnet.Phone
	group   bridge.JID
	picture bridge.Message
}

// setUp pairs the account through the bridge's own API and plays the
// conversation.
func (d *demo) setUp(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, demoReady)
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
	var code bridge.PairingCode
	if err := d.api.call(ctx, http.MethodPost, "/api/auth/pair", nil, &code); err != nil {
		return err
	}
	if _, err := d.owner.EnterPairingCode(ctx, code.Code); err != nil {
		return err
	}
	return d.until(ctx, func() (bool, error) {
		status, err := d.api.status(ctx)
		return status.Status == bridge.StateOpen, err
	})
}

// settle waits until the bridge shows the whole conversation.
func (d *demo) settle(ctx context.Context) error {
	return d.until(ctx, func() (bool, error) {
		var found struct {
			Matches []bridge.Match `json:"matches"`
		}
		err := d.api.call(ctx, http.MethodGet, "/api/messages/search?q="+url.QueryEscape(demoLastLine), nil, &found)
		return len(found.Matches) > 0, err
	})
}

// until asks again and again until done.
func (d *demo) until(ctx context.Context, done func() (bool, error)) error {
	ticker := time.NewTicker(50 * time.Millisecond)
	defer ticker.Stop()
	for {
		ok, err := done()
		if ok || err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-ticker.C:
		}
	}
}

// print tells how to use what is there, with lines that work as they are.
func (d *demo) print(w io.Writer) {
	get := func(path string) string {
		return fmt.Sprintf("curl -s -H 'Authorization: Bearer %s' '%s%s'", d.api.token, d.api.base, path)
	}
	friend := bridge.PhoneJID(d.people["sofia"].Number())
	fmt.Fprintf(w, `
bridged runs on a simulated WhatsApp network: a paired account, people who write
and answer, groups, pictures, voice notes, documents. Nothing leaves this machine.

  address  %s
  token    %s

The account's status and chats:
  %s
  %s

A conversation, a group with its members, and a search in any script:
  %s
  %s
  %s
  %s

Write to Sofia, and read her answer a moment later:
  curl -s -X POST -H 'Authorization: Bearer %s' -H 'Content-Type: application/json' \
    -d '{"jid": "%s", "text": "Hola Sofía!"}' '%s/api/messages/send'
  %s
`,
		d.api.base, d.api.token,
		get("/api/auth/status"), get("/api/chats"),
		get("/api/messages/individual/"+friend.Escaped()+"?limit=20"),
		get("/api/groups/"+d.group.Escaped()),
		get("/api/groups/"+d.group.Escaped()+"/messages?limit=20&order=asc"),
		get("/api/messages/search?q="+url.QueryEscape("straße")),
		d.api.token, friend, d.api.base,
		get("/api/messages/individual/"+friend.Escaped()+"?limit=2"))
	if d.picture.ID != "" {
		fmt.Fprintf(w, "\nDownload a picture:\n  %s -o picture.png\n", get(d.picture.Media.DownloadURL))
	}
	fmt.Fprint(w, "\nCtrl-C ends the demo and leaves nothing behind.\n")
}
