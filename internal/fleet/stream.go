package fleet

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// askTime bounds every question to the server, storeTime every publish.
const (
	askTime   = 2 * time.Second
	storeTime = 5 * time.Second
)

// Limits are how the stream of events is made where there is none.
type Limits struct {
	Replicas   int
	MaxAge     time.Duration // 0 is no limit
	MaxBytes   int64         // 0 is no limit
	Duplicates time.Duration // how long the server remembers ids
}

// config returns the stream of all accounts' events.
func (l Limits) config(prefix string) jetstream.StreamConfig {
	c := jetstream.StreamConfig{
		Name: streamName(prefix, "EVENTS"), Description: "events of bridged",
		Subjects: []string{streamSubject(prefix)}, Storage: jetstream.FileStorage, Compression: jetstream.S2Compression,
		Retention: jetstream.LimitsPolicy, Discard: jetstream.DiscardOld,
		Replicas: l.Replicas, MaxAge: l.MaxAge, MaxBytes: l.MaxBytes, Duplicates: l.Duplicates,
		AllowDirect: true, AllowAtomicPublish: true,
	}
	if c.MaxBytes == 0 {
		c.MaxBytes = -1
	}
	return c
}

// stream is the stream of events as its leader shows it: other nodes may be behind.
type stream struct {
	nc   *nats.Conn
	js   jetstream.JetStream
	info *jetstream.StreamInfo
}

// openStream looks the stream up, or makes it. One that is there is left as it
// is, whatever its limits.
func openStream(ctx context.Context, nc *nats.Conn, js jetstream.JetStream, want jetstream.StreamConfig) (*stream, error) {
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	found, err := openOrMake(jetstream.ErrStreamNotFound, jetstream.ErrStreamNameAlreadyInUse,
		func() (jetstream.Stream, error) { return js.Stream(ctx, want.Name) },
		func() (jetstream.Stream, error) { return js.CreateStream(ctx, want) })
	if err != nil {
		return nil, fmt.Errorf("open the stream %s: %w", want.Name, err)
	}
	return &stream{nc: nc, js: js, info: found.CachedInfo()}, nil
}

// unfit returns why a stream that others have made cannot hold each event once, empty
// where it can.
func (s *stream) unfit(want jetstream.StreamConfig) string {
	have := s.info.Config
	switch {
	case have.Retention != jetstream.LimitsPolicy:
		return "the stream removes what was read: use limits retention, or events may come twice"
	case have.NoAck:
		return "the stream acknowledges nothing: switch no_ack off"
	case !slices.Contains(have.Subjects, want.Subjects[0]):
		return "the stream may not take all accounts: its subjects should be " + want.Subjects[0]
	}
	return ""
}

// errNoMessage says that the stream has no such message.
var errNoMessage = errors.New("there is no such message in the stream")

// codeNoMessage is the server's code for that.
const codeNoMessage = 10037

// wanted is the one message that is asked for.
type wanted struct {
	Sequence uint64 `json:"seq,omitempty"`
	LastFor  string `json:"last_by_subj,omitempty"`
	NextFor  string `json:"next_by_subj,omitempty"`
}

// stored is a message as the stream's leader returns it.
type stored struct {
	Subject  string `json:"subject"`
	Sequence uint64 `json:"seq"`
	Header   []byte `json:"hdrs"`
	Data     []byte `json:"data"`
}

// get asks the stream's leader for a message.
func (s *stream) get(ctx context.Context, w wanted) (stored, error) {
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	request, err := json.Marshal(w)
	if err != nil {
		return stored{}, err
	}
	answer, err := s.nc.RequestWithContext(ctx, "$JS.API.STREAM.MSG.GET."+s.info.Config.Name, request)
	if err != nil {
		return stored{}, fmt.Errorf("read a message of the stream: %w", err)
	}
	var got struct {
		Message stored              `json:"message"`
		Error   *jetstream.APIError `json:"error"`
	}
	switch err := json.Unmarshal(answer.Data, &got); {
	case err != nil:
		return stored{}, fmt.Errorf("read a message of the stream: %w", err)
	case got.Error != nil && got.Error.ErrorCode == codeNoMessage:
		return stored{}, errNoMessage
	case got.Error != nil:
		return stored{}, fmt.Errorf("read a message of the stream: %w", got.Error)
	}
	return got.Message, nil
}

// published reads a message of an account.
func (s *stream) published(ctx context.Context, w wanted) (published, error) {
	m, err := s.get(ctx, w)
	if err != nil || len(m.Header) == 0 {
		return published{sequence: m.Sequence}, err
	}
	header, err := nats.DecodeHeadersMsg(m.Header)
	if err != nil {
		return published{}, fmt.Errorf("read a message's headers: %w", err)
	}
	return readPublished(m.Sequence, header, m.Data), nil
}

// limit returns how large a message may be.
func (s *stream) limit() int {
	limit := int(s.nc.MaxPayload())
	if most := int(s.info.Config.MaxMsgSize); most > 0 {
		limit = min(limit, most)
	}
	return limit
}
