// Command bench measures a bridge on this machine with made-up messages on a
// simulated network, and compares it with a plain implementation or another
// build.
//
// The bridge runs in a separate process, from the executable that --program names
// or one built from this tree. Network, phones and callers run in this process.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/pflag"
	"golang.org/x/term"
)

// options holds the flags.
type options struct {
	messages   int
	chats      int
	seed       uint64
	dir        string
	only       []string
	requests   int
	scans      int
	period     time.Duration
	fileSize   int64
	members    []int
	bridges    int
	program    string
	against    string
	againstDir string
	json       bool
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	o, err := readOptions(os.Args[1:])
	switch {
	case errors.Is(err, pflag.ErrHelp):
		return
	case err == nil:
		err = run(ctx, o, os.Stdout, os.Stderr)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		stop()
		os.Exit(1)
	}
}

func readOptions(args []string) (o options, err error) {
	flags := pflag.NewFlagSet("bench", pflag.ContinueOnError)
	flags.SortFlags = false
	flags.IntVar(&o.messages, "messages", 1_000_000, "number of messages in the store")
	flags.IntVar(&o.chats, "chats", 2000, "number of chats; the largest of 2,000 holds 4.2 percent of the messages")
	flags.Uint64Var(&o.seed, "seed", 1, "seed of the made-up messages")
	flags.StringVar(&o.dir, "dir", "", "directory that keeps the filled stores for later runs; by default they are removed")
	flags.StringSliceVar(&o.only, "only", nil, "measure only these parts: "+strings.Join(partNames(), ", "))
	flags.IntVar(&o.requests, "requests", 300, "number of requests of each kind")
	flags.IntVar(&o.scans, "scans", 12, "number of plain scans to compare with; in large stores each takes seconds")
	flags.DurationVar(&o.period, "period", 10*time.Second, "duration of each load")
	flags.Int64Var(&o.fileSize, "file-size", 100<<20, "size in bytes of the files in the part media")
	flags.IntSliceVar(&o.members, "members", []int{10, 250, 1000}, "sizes of the groups to send to")
	flags.IntVar(&o.bridges, "bridges", 100, "number of bridges that run side by side")
	flags.StringVar(&o.program, "program", "", "executable to measure; by default it is built from this tree")
	flags.StringVar(&o.against, "against", "", "another executable to compare with in search, pages and ingest, which takes the same requests and messages in turn")
	flags.StringVar(&o.againstDir, "against-dir", "", "filled stores of the other executable, kept by its own --dir; by default it gets copies")
	flags.BoolVar(&o.json, "json", false, "print JSON instead of tables")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	if flags.NArg() > 0 {
		return o, fmt.Errorf("unexpected argument %q", flags.Arg(0))
	}
	return o, o.check()
}

func (o options) check() error {
	if o.messages < 1000 || o.chats < 1 || o.requests < 1 || o.fileSize < 1 {
		return errors.New("--messages must be at least 1000, --chats, --requests and --file-size at least 1")
	}
	if len(o.members) == 0 || slices.Min(o.members) < 1 || o.bridges < 1 {
		return errors.New("--members and --bridges must be at least 1")
	}
	for _, name := range o.only {
		if !slices.Contains(partNames(), name) {
			return fmt.Errorf("--only: unknown part %q, must be one of %s", name, strings.Join(partNames(), ", "))
		}
	}
	return nil
}

// part names a group of measurements that --only can choose.
type part struct {
	name     string
	about    string
	measure  func(*bench, context.Context) error
	asked    bool // only measured on request
	compares bool // supports another build
}

// allParts lists all parts, in the order in which they are measured.
var allParts = []part{
	{name: "search", about: "texts in all chats and inside one", measure: (*bench).measureSearch, compares: true},
	{name: "pages", about: "histories, chats, media information", measure: (*bench).measurePages, compares: true},
	{name: "ingest", about: "messages from the network", measure: (*bench).measureIngest, compares: true},
	{name: "send", about: "messages to the network", measure: (*bench).measureSends},
	{name: "media", about: "large files", measure: (*bench).measureMedia},
	{name: "footprint", about: "memory, start, binary", measure: (*bench).measureFootprint},
	{name: "bridges", about: "many bridges beside each other", measure: (*bench).measureBridges, asked: true},
}

func partNames() (names []string) {
	for _, p := range allParts {
		names = append(names, p.name)
	}
	return names
}

// parts returns the selected parts.
func (o options) parts() (parts []part) {
	for _, p := range allParts {
		isUsual := len(o.only) == 0 && !p.asked
		if (isUsual || slices.Contains(o.only, p.name)) && (p.compares || o.against == "") {
			parts = append(parts, p)
		}
	}
	return parts
}

// bench holds the state that the parts of one run share.
type bench struct {
	options  options
	dir      string // the filled stores
	temp     string // everything else; removed at the end
	program  string // the measured executable
	stderr   io.Writer
	progress io.Writer // for progress bars; nil if none
	stores   map[string]*filledStore
	report   Report
}

// run measures the selected parts and prints the report, even after a failure.
func run(ctx context.Context, o options, stdout, stderr io.Writer) error {
	b := &bench{options: o, stderr: stderr, stores: map[string]*filledStore{}}
	if file, ok := stderr.(*os.File); ok && term.IsTerminal(int(file.Fd())) {
		b.progress = stderr
	}
	return errors.Join(b.run(ctx), b.print(stdout))
}

func (b *bench) print(w io.Writer) error {
	if !b.options.json {
		return b.report.Print(w)
	}
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	return encoder.Encode(b.report)
}

func (b *bench) run(ctx context.Context) (err error) {
	if b.temp, err = os.MkdirTemp("", "bridged-bench-*"); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(b.temp)) }()
	if b.dir = b.options.dir; b.dir == "" {
		b.dir = b.temp
	}
	if b.program = b.options.program; b.program == "" {
		if err := b.build(ctx); err != nil {
			return err
		}
	}
	b.report.begin(b.options)
	defer b.report.end()
	for _, part := range b.options.parts() {
		fmt.Fprintf(b.stderr, "%s: %s …\n", part.name, part.about)
		if err := part.measure(b, ctx); err != nil {
			return fmt.Errorf("%s: %w", part.name, err)
		}
	}
	return nil
}

// build builds the program of this tree as releases are built.
func (b *bench) build(ctx context.Context) error {
	b.program = filepath.Join(b.temp, "bridged")
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-ldflags", "-s -w", "-o", b.program, "bridged/cmd/bridged")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("build the program: %w\n%s", err, out)
	}
	return nil
}

// filesAtOnce bounds the files that are sent or downloaded at the same time.
const filesAtOnce = 8

// measureMedia sends and downloads large files.
func (b *bench) measureMedia(ctx context.Context) error {
	var text strings.Builder
	files := mediaBench{program: b.program, size: b.options.fileSize, rounds: max(1, b.options.requests/60), atOnce: filesAtOnce}
	err := measureFiles(ctx, &text, files)
	b.report.Media = text.String()
	return err
}
