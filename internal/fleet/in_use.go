package fleet

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"bridged/internal/bridge"
)

// inUseTime bounds one look at who uses a directory.
const inUseTime = 10 * time.Second

// InUse returns an error with a sentence while another process runs the account from a
// shared directory, or while that cannot be asked. It is for the time before anything
// in the directory is opened: the account's name is that of the last run there. A
// directory without one was never in use.
func InUse(ctx context.Context, o Options, p Place) error {
	data, err := os.ReadFile(p.Note)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var note ownNote
	if err == nil {
		err = json.Unmarshal(data, &note)
	}
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, inUseTime)
	defer cancel()
	h, err := askHolder(ctx, o, note.Account)
	if err != nil {
		return bridge.NotConnected("NATS cannot be asked whether another process uses this data directory: look at NATS_URL and the servers; trying again").Because(err)
	}
	if h != nil && h.Directory == p.Mark && (h.Lock == "" || h.Lock != p.Lock) {
		return heldBy(h)
	}
	return nil
}

// askHolder returns who runs an account; nil for nobody.
func askHolder(ctx context.Context, o Options, account string) (*holder, error) {
	l := newLink()
	nc, err := l.dial(o.Server, o.Name, o.Logger)
	if err != nil {
		return nil, err
	}
	defer nc.Close()
	for !l.connected.Load() {
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(10 * time.Millisecond):
		}
	}
	js, err := jetstream.New(nc)
	if err != nil {
		return nil, err
	}
	h, _, err := newRegistry(nc, js, o, account).holder(ctx)
	return h, err
}
