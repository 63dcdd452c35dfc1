package main

import (
	"context"
	"fmt"
	"net/http"
	"time"
)

// healthcheckCommand calls /healthz of a running bridge, so that an image without
// a shell can check itself.
type healthcheckCommand struct{}

// healthTimeout limits how long the answer may take.
const healthTimeout = 5 * time.Second

// Run fails unless the bridge answers.
func (healthcheckCommand) Run(e *environment) error {
	c, err := readPart(e.environ, (*config).checkListenAddr)
	if err != nil {
		return err
	}
	address := dialable(c.ListenAddr)
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
