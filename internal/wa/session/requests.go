package session

import (
	"bytes"
	"compress/zlib"
	"context"
	"errors"
	"fmt"
	"time"

	"go.mau.fi/whatsmeow"
	waBinary "go.mau.fi/whatsmeow/binary"
	"go.mau.fi/whatsmeow/proto/waE2E"
	"go.mau.fi/whatsmeow/types"
	"go.mau.fi/whatsmeow/types/events"

	"bridged/internal/bridge"
)

// dangerous returns the methods that whatsmeow may change at any time. The version of whatsmeow
// is pinned.
func (c *Client) dangerous() *whatsmeow.DangerousInternalClient {
	//lint:ignore SA1019 see above
	return c.DangerousInternals()
}

// ExpectEnd stops whatsmeow from emitting an event for the next end of its connection.
func (c *Client) ExpectEnd() { c.dangerous().ExpectDisconnect() }

// SendKeepAlive asks the network for any answer. answered is false if there is none within
// [whatsmeow.KeepAliveResponseDeadline].
func (c *Client) SendKeepAlive(ctx context.Context) (answered, connected bool) {
	return c.dangerous().SendKeepAlive(ctx)
}

// SendNode sends a stanza.
func (c *Client) SendNode(ctx context.Context, node waBinary.Node) error {
	return c.dangerous().SendNode(ctx, node)
}

// Unlink asks the network to remove this device from the account. whatsmeow's Logout (client.go)
// also replaces the stores while they are in use, which is a data race. The caller deletes the
// keys after the connection is closed.
func (c *Client) Unlink(ctx context.Context) error {
	_, err := c.dangerous().SendIQ(ctx, whatsmeow.DangerousInfoQuery{
		Namespace: "md", Type: "set", To: types.ServerJID,
		Content: []waBinary.Node{{Tag: "remove-companion-device", Attrs: waBinary.Attrs{"jid": c.Device, "reason": "user_initiated"}}},
	})
	if err != nil {
		return fmt.Errorf("ask to be unlinked: %w", err)
	}
	return nil
}

// MediaConn asks for the network's media hosts.
func (c *Client) MediaConn(ctx context.Context, refresh bool) (bridge.MediaConn, error) {
	named, err := c.dangerous().RefreshMediaConn(ctx, refresh)
	if err == nil && len(named.Hosts) == 0 {
		err = errors.New("the network's answer has no media hosts")
	}
	if err != nil {
		return bridge.MediaConn{}, bridge.NotConnected("the network did not send its media hosts: try again in a moment").Because(err)
	}
	conn := bridge.MediaConn{Auth: named.Auth}
	for _, host := range named.Hosts {
		conn.Hosts = append(conn.Hosts, host.Hostname)
	}
	return conn, nil
}

// groupMembers returns a group's members as whatsmeow will address them. The first call for a
// group sends a query.
func (c *Client) groupMembers(ctx context.Context, group types.JID) ([]types.JID, error) {
	known, err := c.dangerous().GetCachedGroupData(ctx, group)
	if err != nil {
		return nil, fmt.Errorf("ask for the group's members: %w", err)
	}
	return known.Members, nil
}

// ChangeGroups asks the network once for a change of groups and waits at most limit for the
// answer. If there is no answer, the change may still have been made. whatsmeow's own methods ask
// again after a lost connection, and could create a group twice.
func (c *Client) ChangeGroups(ctx context.Context, to types.JID, change waBinary.Node, limit time.Duration) (*waBinary.Node, error) {
	return c.dangerous().SendIQ(ctx, whatsmeow.DangerousInfoQuery{
		Namespace: "w:g2", Type: "set", To: to, Content: []waBinary.Node{change}, NoRetry: true, Timeout: limit,
	})
}

// ChangePicture asks the network once, like ChangeGroups, for a new picture of a group (a JPEG)
// or, if picture is empty, for its removal.
func (c *Client) ChangePicture(ctx context.Context, of types.JID, picture []byte, limit time.Duration) (*waBinary.Node, error) {
	query := whatsmeow.DangerousInfoQuery{
		Namespace: "w:profile:picture", Type: "set", To: types.ServerJID, Target: of, NoRetry: true, Timeout: limit,
	}
	if len(picture) > 0 {
		query.Content = []waBinary.Node{{Tag: "picture", Attrs: waBinary.Attrs{"type": "image"}, Content: picture}}
	}
	return c.dangerous().SendIQ(ctx, query)
}

// ParseGroup parses the description of a group.
func (c *Client) ParseGroup(group waBinary.Node) (*types.GroupInfo, error) {
	return c.dangerous().ParseGroupNode(&group)
}

// NoteMembers updates whatsmeow's list of a group's members before the network announces the
// change.
func (c *Client) NoteMembers(change *events.GroupInfo) {
	c.dangerous().UpdateGroupParticipantCache(change)
}

// TrustToken returns the token with which a person permits the account to add them to groups, or
// nil.
func (c *Client) TrustToken(ctx context.Context, person types.JID) ([]byte, error) {
	return c.dangerous().EnsureTCToken(ctx, person)
}

// ErrNotStored means that data from a part of the history could not be stored.
var ErrNotStored = errors.New("not stored")

// StoreHistory makes whatsmeow store its data from a downloaded part of the history (tokens, the
// salt, identities, push names, settings). whatsmeow accepts the part as an inline payload. It
// only logs errors of storing, so the stores record them.
func (c *Client) StoreHistory(ctx context.Context, piece []byte) error {
	var inline bytes.Buffer
	writer, err := zlib.NewWriterLevel(&inline, zlib.NoCompression)
	if err != nil {
		return err
	}
	if _, err := writer.Write(piece); err != nil {
		return err
	}
	if err := writer.Close(); err != nil {
		return err
	}
	failures := new(failures)
	_, err = c.DownloadHistorySync(context.WithValue(ctx, failuresKey{}, failures),
		&waE2E.HistorySyncNotification{InitialHistBootstrapInlinePayload: inline.Bytes()}, true)
	if err == nil && failures.first != nil {
		err = fmt.Errorf("%w: %w", ErrNotStored, failures.first)
	}
	return err
}
