// Package groups reads and changes the account's groups. It asks the network for groups whose name and
// members are missing, and handles links, requests to join, and refusals.
//
// A change is requested only once, because the network has no ids that would make repeating it
// harmless. A repeated call first finds out whether the earlier attempt succeeded.
package groups

import (
	"context"
	"errors"
	"time"

	"github.com/rs/zerolog"
	"go.mau.fi/whatsmeow"
	"go.mau.fi/whatsmeow/types"

	"bridged/internal/bridge"
	"bridged/internal/wa/convert"
	"bridged/internal/wa/session"
)

// Store stores groups and their members.
type Store interface {
	Save(ctx context.Context, facts ...bridge.Fact) error
	Canonical(jid bridge.JID) bridge.JID
	// Asking returns a person's request to join a group, with everything known about the person.
	Asking(jid bridge.JID, at *bridge.Time) bridge.JoinRequest
	GroupsWithoutInfo(ctx context.Context) ([]bridge.JID, error)
	Setting(ctx context.Context, name string) (string, error)
	SetSetting(ctx context.Context, name, value string) error
}

// Recipients are the people and groups that a connection knows.
type Recipients interface {
	// InGroup returns nil if the account is a member of a group and may send messages to it.
	InGroup(ctx context.Context, jid bridge.JID) error
	// AddressedByLID reports whether a group's members are addressed by LID.
	AddressedByLID(ctx context.Context, jid bridge.JID) bool
	// NoteGroup records the data for InGroup and AddressedByLID, and ForgetGroup removes it.
	NoteGroup(info *types.GroupInfo)
	ForgetGroup(jid bridge.JID)
	// LookUpAll looks up the numbers that are not known yet.
	LookUpAll(ctx context.Context, people []bridge.JID) error
	// NumberExists returns a person's number on the network.
	NumberExists(ctx context.Context, to types.JID) (types.JID, error)
	// SaveAnswered stores the usernames of the answers so far.
	SaveAnswered(ctx context.Context)
}

// Options configures [Groups].
type Options struct {
	// Open returns the open connection, or an error with the reason.
	Open func() (*session.Client, Recipients, error)
	// Own returns the account's number and LID.
	Own func() (pn, lid bridge.JID)
	// Within limits a context by a duration and by the end of the program.
	Within func(ctx context.Context, longest time.Duration) (context.Context, context.CancelFunc)
	// Answer returns how long to wait for the network's answer to a change.
	Answer func() time.Duration
	// Refusal returns the error for a refusal that is not about groups, and nil otherwise.
	Refusal func(err error) error
	// IsLost reports whether an error means that the connection was lost.
	IsLost     func(err error) bool
	Background context.Context // ends with the program
	Store      Store
	Clock      *bridge.Clock
	Log        zerolog.Logger
}

// Groups reads and changes the groups of the account.
type Groups struct {
	o       Options
	fetches fetches
}

// New returns the account's groups. It does nothing before [Groups.Run].
func New(o Options) *Groups {
	return &Groups{o: o, fetches: fetches{notify: make(chan struct{}, 1), wanted: map[bridge.JID]bool{}, known: map[bridge.JID]bool{}}}
}

// conn is an open connection in use.
type conn struct {
	*session.Client
	Recipients
	gs *Groups
}

func (gs *Groups) open() (*conn, error) {
	client, recipients, err := gs.o.Open()
	return &conn{client, recipients, gs}, err
}

// connect returns the open connection and a context that ends after limit at the latest.
func (gs *Groups) connect(ctx context.Context, limit time.Duration) (_ context.Context, c *conn, end func(), err error) {
	if c, err = gs.open(); err != nil {
		return nil, nil, nil, err
	}
	ctx, end = gs.o.Within(ctx, limit)
	return ctx, c, end, nil
}

// describe asks the network for a group's metadata.
func (c *conn) describe(ctx context.Context, jid bridge.JID) (*types.GroupInfo, error) {
	info, err := c.GetGroupInfo(ctx, convert.WireJID(jid))
	if err != nil {
		return nil, QueryError(err)
	}
	return info, nil
}

// isOwn reports whether a person is the account.
func (gs *Groups) isOwn(person bridge.JID) bool {
	pn, lid := gs.o.Own()
	return person != "" && (person == pn || person == lid)
}

// LiveGroup asks the network for a group's metadata.
func (gs *Groups) LiveGroup(ctx context.Context, jid bridge.JID) (*bridge.Group, error) {
	c, err := gs.open()
	if err != nil {
		return nil, err
	}
	info, err := c.describe(ctx, jid)
	if err != nil {
		return nil, err
	}
	c.SaveAnswered(ctx)
	g := convert.Group(info)
	for i := range g.Participants {
		g.Participants[i].JID = gs.o.Store.Canonical(g.Participants[i].JID)
	}
	g.OwnerJID = gs.o.Store.Canonical(g.OwnerJID)
	return &g, nil
}

// QueryError returns the error for a group's metadata that cannot be read.
func QueryError(err error) error {
	var iq *whatsmeow.IQError
	switch {
	case errors.Is(err, whatsmeow.ErrNotInGroup), errors.Is(err, whatsmeow.ErrGroupNotFound),
		errors.As(err, &iq) && (iq.Code == 403 || iq.Code == 404):
		return bridge.Fail(bridge.CodeNotInGroup, "the account is not in that group").Because(err)
	case errors.As(err, &iq) && iq.Code == 429:
		return &bridge.Error{Code: bridge.CodeRateLimited, Msg: "the network limits queries about groups for now", Err: err, RetryAfter: time.Minute}
	}
	return bridge.NotConnected("the network did not answer the query about the group: try again in a moment").Because(err)
}
