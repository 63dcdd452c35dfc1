package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"

	"bridged/internal/client"
)

// giveUp limits the wait for a bridge's first answer.
const giveUp = 30 * time.Second

// child is a bridge in a separate process, so that only it is measured.
type child struct {
	client  *client.Client
	cmd     *exec.Cmd
	log     *os.File      // removed at the end
	started time.Duration // until it answered
}

// startChild starts a bridge on a free address and waits until it answers. Unless the environment sets a level, it logs errors only.
func startChild(ctx context.Context, program string, environ []string) (*child, error) {
	address, err := freeAddress()
	if err != nil {
		return nil, err
	}
	c := &child{client: client.New("http://"+address, token), cmd: exec.Command(program, "serve")}
	c.cmd.Env = append([]string{"LISTEN_ADDR=" + address, "LOG_LEVEL=error"}, environ...)
	if c.log, err = os.CreateTemp("", "bridged-bench-*.log"); err != nil {
		return nil, err
	}
	c.cmd.Stderr = c.log
	began := time.Now()
	if err := c.cmd.Start(); err != nil {
		return nil, errors.Join(err, c.removeLog())
	}
	ctx, cancel := context.WithTimeout(ctx, giveUp)
	defer cancel()
	if err := c.awaitHealth(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("the bridge does not answer: %w", err), c.end())
	}
	c.started = time.Since(began)
	return c, nil
}

// freeAddress returns an unused address.
func freeAddress() (string, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return listener.Addr().String(), listener.Close()
}

// awaitHealth asks every millisecond until the bridge answers.
func (c *child) awaitHealth(ctx context.Context) error {
	for {
		if _, err := read(ctx, c.client, "/healthz"); err == nil {
			return nil
		}
		if err := wait(ctx, time.Millisecond); err != nil {
			return err
		}
	}
}

// end stops the process.
func (c *child) end() error {
	c.client.Close()
	errs := []error{c.cmd.Process.Signal(syscall.SIGTERM)}
	if err := c.cmd.Wait(); err != nil {
		log, _ := os.ReadFile(c.log.Name()) // if there is one
		errs = append(errs, fmt.Errorf("the bridge failed: %w\n%s", err, log[max(0, len(log)-shownLog):]))
	}
	return errors.Join(append(errs, c.removeLog())...)
}

// shownLog limits the bytes of a log's end that an error shows.
const shownLog = 4 << 10

func (c *child) removeLog() error {
	return errors.Join(c.log.Close(), os.Remove(c.log.Name()))
}

// proc returns the path of one of the process's files under /proc.
func (c *child) proc(name string) string {
	return fmt.Sprintf("/proc/%d/%s", c.cmd.Process.Pid, name)
}

// memory returns a size in the kernel's status of the process, in bytes.
func (c *child) memory(name string) (int64, error) {
	status, err := os.ReadFile(c.proc("status"))
	if err != nil {
		return 0, fmt.Errorf("memory is only measured on Linux: %w", err)
	}
	for line := range strings.Lines(string(status)) {
		fields := strings.Fields(line)
		if len(fields) == 3 && fields[0] == name+":" {
			kib, err := strconv.ParseInt(fields[1], 10, 64)
			return kib << 10, err
		}
	}
	return 0, fmt.Errorf("the kernel does not report %s", name)
}

// read requests a path and reads the whole answer.
func read(ctx context.Context, api *client.Client, path string) ([]byte, error) {
	resp, err := api.Do(ctx, http.MethodGet, path, nil, nil)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	return io.ReadAll(resp.Body)
}
