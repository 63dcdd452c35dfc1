// Package bench measures the bridge on this machine, with made-up messages and
// a simulated network. It compares the bridge with the plain way to do the same.
package bench

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"bridged/internal/client"
)

// Options holds the flags of the command.
type Options struct {
	Messages int           `default:"1000000" help:"How many messages the store is filled with."`
	Chats    int           `default:"2000" help:"How many chats they are in; the largest of 2,000 holds 4.2 percent."`
	Seed     uint64        `default:"1" help:"Another seed makes other messages."`
	Dir      string        `type:"path" help:"Keep the filled stores here, and use those that are there already. Without it they are removed."`
	Only     []string      `help:"Measure only these parts: search, pages, ingest, send, media, footprint, growth, bridges, fleet."`
	Sizes    []int         `default:"10000,100000,1000000,5000000" help:"The stores of growth."`
	Plot     string        `type:"path" help:"Write growth as an SVG picture to this file."`
	Requests int           `default:"300" help:"How many requests of each kind are measured."`
	Scans    int           `default:"12" help:"How many plain scans are measured beside them; in large stores each takes seconds."`
	Period   time.Duration `default:"10s" help:"How long load is kept up."`
	FileSize int64         `default:"104857600" help:"How many bytes the files of media have."`
	Busy     bool          `help:"Take the figures of a busy machine too, instead of measuring again and refusing them."`
	Members  []int         `default:"10,250,1000" help:"How many members the groups have that are sent to."`
	Bridges  int           `default:"100" help:"How many bridges run beside each other."`
	NATS     string        `help:"The servers that the bridges of fleet meet on, as NATS_URL names them. They and the bridges are other programs: measure with --busy."`
	JSON     bool          `name:"json" help:"Print JSON instead of tables."`
}

// Bridge is a running bridge.
type Bridge interface {
	// Client returns a client of its API, as it is reached from this machine.
	Client() *client.Client
	// Stop stops it gracefully.
	Stop() error
}

// Start brings a bridge up in this process with the configuration in environ,
// and writes its log to log. The program hands it to the benchmark, which
// cannot import it.
type Start func(ctx context.Context, environ []string, log io.Writer) (Bridge, error)

// Streams holds the outputs of a run.
type Streams struct {
	Stdout   io.Writer // the report
	Stderr   io.Writer // what is being measured
	Progress io.Writer // bars, drawn again and again; nil for none
}

// part is one part of the benchmark.
type part struct {
	name    string
	about   string
	measure func(*bench, context.Context) error
	asked   bool // only measured when it is asked for
}

// allParts lists all parts, in the order in which they are measured.
var allParts = []part{
	{name: "search", about: "texts in all chats and inside one", measure: (*bench).measureSearch},
	{name: "pages", about: "histories, chats, media information", measure: (*bench).measurePages},
	{name: "ingest", about: "messages from the network", measure: (*bench).measureIngest},
	{name: "send", about: "messages to the network", measure: (*bench).measureSends},
	{name: "media", about: "large files", measure: (*bench).measureMedia},
	{name: "footprint", about: "memory, start, binary", measure: (*bench).measureFootprint},
	{name: "growth", about: "from the smallest store to the largest", measure: (*bench).measureGrowth, asked: true},
	{name: "bridges", about: "many bridges beside each other", measure: (*bench).measureBridges, asked: true},
	{name: "fleet", about: "many bridges that publish to NATS", measure: (*bench).measureFleet, asked: true},
}

// bench is one run.
type bench struct {
	command Options
	start   Start
	dir     string // of the filled stores
	temp    string // of everything else; removed at the end
	program string // the executable that child processes run
	streams Streams
	stores  map[string]*filledStore
	usage   func() (usage, error)
	report  Report
}

// Run measures what options ask for, and prints the report: also what was
// measured before a failure.
func Run(ctx context.Context, options Options, start Start, streams Streams) error {
	program, err := os.Executable()
	if err != nil {
		return err
	}
	b := &bench{command: options, start: start, program: program, streams: streams, stores: map[string]*filledStore{}, usage: readUsage}
	parts, err := b.parts()
	if err != nil {
		return err
	}
	if err = b.run(ctx, parts); err != nil {
		err = fmt.Errorf("bench: %w", err)
	}
	return errors.Join(err, b.print(streams.Stdout))
}

func (b *bench) print(w io.Writer) error {
	if !b.command.JSON {
		return b.report.Print(w)
	}
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	return encoder.Encode(b.report)
}

func (b *bench) run(ctx context.Context, parts []part) (err error) {
	if b.temp, err = os.MkdirTemp("", "bridged-bench-*"); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(b.temp)) }()
	if b.dir = b.command.Dir; b.dir == "" {
		b.dir = b.temp
	}
	b.report.begin(b.command)
	defer b.report.end()
	for _, part := range parts {
		fmt.Fprintf(b.streams.Stderr, "%s: %s …\n", part.name, part.about)
		if err := b.measureQuietly(ctx, part); err != nil {
			return fmt.Errorf("%s: %w", part.name, err)
		}
	}
	return b.validity()
}

// filesAtOnce is how many files go at the same time.
const filesAtOnce = 8

// measureMedia sends and downloads large files.
func (b *bench) measureMedia(ctx context.Context) error {
	var text strings.Builder
	files := mediaBench{program: b.program, size: b.command.FileSize, rounds: max(1, b.command.Requests/60), atOnce: filesAtOnce}
	err := measureFiles(ctx, &text, files)
	b.report.Media = text.String()
	return err
}

// parts returns the parts to measure.
func (b *bench) parts() ([]part, error) {
	if b.command.Messages < 1000 || b.command.Chats < 1 || b.command.Requests < 1 || b.command.FileSize < 1 {
		return nil, errors.New("bench: --messages must be at least 1000, --chats, --requests and --file-size at least 1")
	}
	if len(b.command.Members) == 0 || slices.Min(b.command.Members) < 1 || b.command.Bridges < 1 {
		return nil, errors.New("bench: --members and --bridges must be at least 1")
	}
	var parts []part
	var names []string
	for _, part := range allParts {
		names = append(names, part.name)
		named := slices.Contains(b.command.Only, part.name)
		if named || len(b.command.Only) == 0 && (!part.asked || part.name == "growth" && b.command.Plot != "") {
			parts = append(parts, part)
		}
	}
	for _, name := range b.command.Only {
		if !slices.Contains(names, name) {
			return nil, fmt.Errorf("bench: --only knows no part %q: there are %s", name, strings.Join(names, ", "))
		}
	}
	return parts, nil
}
