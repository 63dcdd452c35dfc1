package simnet

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"

	"go.mau.fi/whatsmeow"
	"go.mau.fi/whatsmeow/proto/waE2E"
	"go.mau.fi/whatsmeow/store/sqlstore"
	"go.mau.fi/whatsmeow/types"
	waLog "go.mau.fi/whatsmeow/util/log"
	"google.golang.org/protobuf/proto"

	"bridged/internal/simnet/people"
)

// Bare is a plain whatsmeow companion, the baseline for measuring a bridge: it decrypts, acknowledges and forgets messages, and sends texts.
// It loses nothing either: it acknowledges after handling, buffers decrypted messages, and keeps its session in a file with a single
// connection.
type Bare struct {
	*people.Device
	client *whatsmeow.Client
	db     *sql.DB
}

// LinkBare links a plain client to the phone's account and keeps its session in a new file at path. The program has to import the driver
// modernc.org/sqlite.
func (p *Phone) LinkBare(ctx context.Context, path string) (_ *Bare, err error) {
	pragmas := url.Values{"_pragma": {"busy_timeout(5000)", "journal_mode(WAL)", "synchronous(FULL)", "foreign_keys(1)"}}
	db, err := sql.Open("sqlite", "file:"+(&url.URL{Path: path}).EscapedPath()+"?"+pragmas.Encode()+"&_txlock=immediate")
	if err != nil {
		return nil, fmt.Errorf("open the session of a plain client: %w", err)
	}
	db.SetMaxOpenConns(1)
	b := &Bare{db: db}
	defer func() {
		if err != nil {
			err = errors.Join(err, b.Close())
		}
	}()
	container := sqlstore.NewWithDB(db, "sqlite", waLog.Noop)
	if err = container.Upgrade(ctx); err != nil {
		return nil, fmt.Errorf("make the session of a plain client: %w", err)
	}
	screen := new(Screen)
	b.client = whatsmeow.NewClient(container.NewDevice(), waLog.Noop)
	b.configure(p.net, screen)
	if err = b.client.Connect(); err != nil {
		return nil, fmt.Errorf("connect a plain client: %w", err)
	}
	b.Device, err = p.HoldTo(ctx, screen.Shown)
	return b, err
}

// configure sets the options that Bare's comment describes, and a handler that shows the QR code.
func (b *Bare) configure(n *Network, screen *Screen) {
	b.client.SynchronousAck, b.client.EnableDecryptedEventBuffer = true, true
	b.client.ManualHistorySyncDownload, b.client.AutomaticMessageRerequestFromPhone = true, true
	b.client.UseRetryMessageStore = false
	b.client.EnableAutoReconnect = false // see Reconnect
	n.Configure(b.client)
	b.client.AddEventHandlerWithSuccessStatus(func(event any) bool {
		screen.Handle(event)
		return true
	})
}

// Reconnect dials again after a lost connection, without the growing pauses of whatsmeow's own reconnects.
func (b *Bare) Reconnect(ctx context.Context) error {
	if err := b.client.ConnectContext(ctx); err != nil && !errors.Is(err, whatsmeow.ErrAlreadyConnected) {
		return fmt.Errorf("connect a plain client again: %w", err)
	}
	return nil
}

// SendText sends a text and returns once the network has acknowledged it.
func (b *Bare) SendText(ctx context.Context, to types.JID, text string) error {
	if _, err := b.client.SendMessage(ctx, to, &waE2E.Message{Conversation: proto.String(text)}); err != nil {
		return fmt.Errorf("send with a plain client: %w", err)
	}
	return nil
}

// Close disconnects the client.
func (b *Bare) Close() error {
	if b.client != nil {
		b.client.Disconnect()
	}
	return b.db.Close()
}
