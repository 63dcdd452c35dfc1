// Package fleet connects a bridge to NATS, where hundreds of bridges meet, each
// with its own account.
//
// One account is one socket by WhatsApp's own rule, so that an account never
// needs a second machine; an operator of many accounts needs one place where
// all of them are heard. That place is the operator's NATS server or cluster,
// with JetStream. A bridge without NATS_URL does not know of it: nothing of this
// package runs.
//
//   - A [Fleet] owns one connection. It is made in the background, and made
//     again without end: the bridge starts, receives, sends and posts webhooks
//     whether NATS is there or not.
//   - The account is named by its phone's digits, which the bridge knows from
//     its first pairing on. Until then the fleet waits.
//   - Events out: the publisher is one more reader of the log of events. Each
//     event becomes one message of a stream, exactly once and in order, whatever
//     happens to the bridge or to NATS. Where it goes on is read from the
//     stream itself; see resume.go for the rules.
//   - Requests in: an envelope of method, path, headers and body goes through the
//     API's router with the bearer that it carries. See requests.go.
//   - One owner: a key with a time to live says which process runs the account, and
//     everything else of the fleet is done by that one. See owner.go.
//
// The package sees neither the store nor whatsmeow. What it needs of the log is
// [Log], which the program gives it.
package fleet

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/rs/zerolog"
)

// Options are the parts of a fleet.
type Options struct {
	Server Server
	Prefix string // of subjects, and in capitals of streams and buckets
	Stream Limits
	Owner  OwnerOptions
	Log    Log
	// Version is the program's, shown to those who look for services.
	Version string
	Name    string // by which the server's operator knows the connection
	Logger  zerolog.Logger
}

// Fleet is a bridge's place among the others.
type Fleet struct {
	options Options
	log     zerolog.Logger
	link    *link
	account account
	events  *publisher
	owner   *owner       // nil where nobody asks who runs the account
	api     http.Handler // nil takes no requests
}

// New makes a fleet. Nothing is dialled until it runs.
func New(o Options) *Fleet {
	f := &Fleet{options: o, log: o.Logger.With().Str("part", "fleet").Logger()}
	f.account = newAccount(o.Log)
	f.link = newLink()
	f.events = newPublisher(o, f.link, f.log)
	if o.Owner.TTL > 0 {
		f.owner = newOwner(o, f.log)
	}
	return f
}

// TakeRequests has the fleet take requests for api, the router of the bridge. Call
// it before Run.
func (f *Fleet) TakeRequests(api http.Handler) { f.api = api }

// Seek seeks the right to run a session, which is the same for all of its copies and
// for no other one. onChange is called, from any goroutine, when Refusal has changed.
// release gives the right back, behind the end of the session's connection.
func (f *Fleet) Seek(session string, onChange func()) (release func()) {
	return f.owner.Seek(session, onChange)
}

// Refusal returns why the session may not run now, ErrSought until that is known, and
// nil while it may.
func (f *Fleet) Refusal() error { return f.owner.Refusal() }

// Run serves until ctx ends. It fails where NATS could never be reached with these
// options.
func (f *Fleet) Run(ctx context.Context) error {
	nc, err := f.link.dial(f.options.Server, f.options.Name, f.log)
	if err != nil {
		return fmt.Errorf("set up the connection to NATS: %w", err)
	}
	defer nc.Close()
	js, err := jetstream.New(nc)
	if err != nil {
		return fmt.Errorf("set up JetStream: %w", err)
	}
	return f.serve(ctx, nc, js)
}

// serve runs what is served over a connection, once it is known for whom.
func (f *Fleet) serve(ctx context.Context, nc *nats.Conn, js jetstream.JetStream) error {
	account, err := f.account.wait(ctx, f.log)
	if err != nil {
		return nil // it was stopped before
	}
	serve := func(ctx context.Context) { f.serveAccount(ctx, nc, js, account) }
	if f.owner == nil {
		serve(ctx)
		return nil
	}
	var serving sync.WaitGroup
	serving.Go(func() { f.owner.during(ctx, serve) })
	f.owner.run(ctx, newRegistry(nc, js, f.options, account))
	serving.Wait()
	return nil
}

// serveAccount publishes and takes requests until ctx ends.
func (f *Fleet) serveAccount(ctx context.Context, nc *nats.Conn, js jetstream.JetStream, account string) {
	var serving sync.WaitGroup
	serving.Go(func() { f.events.run(ctx, nc, js, account) })
	if f.api != nil {
		serving.Go(func() {
			if err := newRequests(f.options, f.api, nc, js, f.log).serve(ctx, account); err != nil {
				f.log.Error().Err(err).Msg("requests are not taken from NATS")
			}
		})
	}
	serving.Wait()
}

// streamName returns the name of a stream or bucket of the fleet.
func streamName(prefix, what string) string { return strings.ToUpper(prefix) + "_" + what }
