package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"

	"github.com/rs/zerolog"

	"bridged/internal/config"
	"bridged/internal/fleet"
	"bridged/internal/store"
)

// settingFleet is the name of the setting for the position of the last published event.
const settingFleet = "fleet.position"

// newFleet returns the bridge's connection to its fleet, or nil without NATS_URL. It does not dial.
func newFleet(c config.Config, dir *dataDir, s *store.Store, state func() string, log zerolog.Logger) (*fleet.Fleet, error) {
	if c.NATSURL == "" {
		return nil, nil
	}
	number, err := inode(dir.lock)
	if err != nil {
		return nil, err
	}
	directory, err := fleet.OpenDataDir(dir.file("fleet.json"), number)
	if err != nil {
		return nil, explained(dir.file("fleet.json"), err)
	}
	host, err := os.Hostname()
	if err != nil {
		host = "unnamed"
	}
	return fleet.New(fleet.Options{
		Server: fleet.Server{URL: c.NATSURL, CredsFile: c.NATSCredsFile, CAFile: c.NATSCAFile},
		Prefix: c.NATSPrefix, Name: userAgent(), Version: version,
		Stream: fleet.Limits{Replicas: c.NATSReplicas},
		Log:    fleetLog{s}, Logger: log, Owner: fleet.OwnerOptions{DataDir: directory, TTL: c.NATSOwnerTTL, Host: host, State: state},
	}), nil
}

// fleetLog implements [fleet.Log] over the store.
type fleetLog struct{ *store.Store }

func (l fleetLog) Account(ctx context.Context) (string, error) {
	owner, _, err := l.OwnerOf(ctx)
	return owner.PN.User(), err
}

func (l fleetLog) Events(ctx context.Context, after int64, limit int) (fleet.Page, error) {
	page, err := l.Store.Events(ctx, store.EventQuery{After: after, Limit: limit})
	return fleet.Page{Events: page.Events, Next: page.Next, More: page.More, IsReset: page.Reset}, err
}

func (l fleetLog) Position(ctx context.Context) (p fleet.Position, err error) {
	value, err := l.Setting(ctx, settingFleet)
	if err != nil || value == "" {
		return p, err
	}
	if err := json.Unmarshal([]byte(value), &p); err != nil {
		return p, fmt.Errorf("read the position of the last published event: %w", err)
	}
	return p, nil
}

func (l fleetLog) SavePosition(ctx context.Context, p fleet.Position) error {
	value, err := json.Marshal(p)
	if err != nil {
		return err
	}
	return l.SetSetting(ctx, settingFleet, string(value))
}
