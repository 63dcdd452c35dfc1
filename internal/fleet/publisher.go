package fleet

import (
	"context"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/rs/zerolog"
)

// publisher brings the log of events into the stream.
type publisher struct {
	options Options
	log     zerolog.Logger
}

func newPublisher(o Options, log zerolog.Logger) *publisher { return &publisher{options: o, log: log} }

// run publishes until ctx ends.
func (p *publisher) run(ctx context.Context, nc *nats.Conn, js jetstream.JetStream, account string) {
	<-ctx.Done()
}
