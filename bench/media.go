package main

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"time"

	"bridged/internal/bridge"
	"bridged/internal/client"
	"bridged/internal/simnet"
)

// mediaBench measures files in both directions: the time for one, compared with
// whatsmeow's in-memory way, and the memory for many at once. The bridge runs in
// a separate process, so that only it is measured; network, phones, the website
// and the callers run in this one.
type mediaBench struct {
	program string // the bridge's executable
	size    int64  // of a file, in bytes
	rounds  int    // of each measurement, which yield a median
	atOnce  int    // concurrent files

	dir     string
	network *simnet.Network
	owner   *simnet.Phone
	friend  *simnet.Phone
	website *http.Server
	fileURL string
	file    []byte
	bridge  *child
	api     *client.Client
}

// measureFiles runs the measurements and writes the results.
func measureFiles(ctx context.Context, out io.Writer, b mediaBench) (err error) {
	if b.dir, err = os.MkdirTemp("", "bridged-bench-*"); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.close()) }()
	if err := b.setUp(ctx); err != nil {
		return fmt.Errorf("set up the measurement of files: %w", err)
	}
	fmt.Fprintf(out, "Files of %d MiB, %d rounds, medians; %d at once.\n\n", b.size>>20, b.rounds, b.atOnce)
	if err := b.times(ctx, out); err != nil {
		return err
	}
	return b.memory(ctx, out)
}

func (b *mediaBench) setUp(ctx context.Context) (err error) {
	b.file = make([]byte, b.size)
	_, _ = rand.NewChaCha8([32]byte{}).Read(b.file) // never fails
	if b.network, err = simnet.New(ctx, simnet.Options{}); err != nil {
		return err
	}
	stored := filepath.Join(b.dir, "cdn")
	if err := os.Mkdir(stored, 0o700); err != nil {
		return err
	}
	b.network.CDN().KeepIn(stored)
	if b.owner, err = b.network.NewPhone(ctx, simnet.PhoneOptions{Number: ownerNumber, Name: "Alex"}); err != nil {
		return err
	}
	if b.friend, err = b.network.NewPhone(ctx, simnet.PhoneOptions{Number: "34600100101", Name: "Sofi"}); err != nil {
		return err
	}
	if err := b.publish(); err != nil {
		return err
	}
	if err := b.startBridge(ctx); err != nil {
		return err
	}
	code, err := b.api.Pair(ctx, "")
	if err != nil {
		return err
	}
	if _, err := b.owner.EnterPairingCode(ctx, code.Code); err != nil {
		return err
	}
	_, err = b.api.WaitState(ctx, bridge.StateOpen)
	return err
}

// publish serves the file to send.
func (b *mediaBench) publish() error {
	path := filepath.Join(b.dir, "file.bin")
	if err := os.WriteFile(path, b.file, 0o600); err != nil {
		return err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	b.website = &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { http.ServeFile(w, r, path) })}
	b.fileURL = "http://" + listener.Addr().String() + "/file.bin"
	go func() { _ = b.website.Serve(listener) }() // returns after close
	return nil
}

func (b *mediaBench) startBridge(ctx context.Context) (err error) {
	file := filepath.Join(b.dir, "network.json")
	if err := b.network.WriteNetworkFile(file); err != nil {
		return err
	}
	b.bridge, err = startChild(ctx, b.program, []string{
		"BRIDGE_TOKEN=" + token, "DATA_DIR=" + filepath.Join(b.dir, "data"), "ENABLE_SEND=true", "PHONE_NUMBER=" + ownerNumber,
		"WA_NETWORK_FILE=" + file, "SIMULATED_FETCH_ALLOW=127.0.0.1/32", "FETCH_TIMEOUT=10m",
		"MEDIA_MAX_BYTES=" + strconv.FormatInt(b.size, 10), "MEDIA_CACHE_BYTES=" + strconv.FormatInt(64*b.size, 10),
	})
	if err == nil {
		b.api = b.bridge.client
	}
	return err
}

func (b *mediaBench) close() error {
	var errs []error
	if b.bridge != nil {
		errs = append(errs, b.bridge.end())
	}
	if b.website != nil {
		errs = append(errs, b.website.Close())
	}
	if b.network != nil {
		b.network.Close()
	}
	return errors.Join(append(errs, os.RemoveAll(b.dir))...)
}

// measurement is timed once per round.
type measurement struct {
	name string
	run  func(ctx context.Context) error
	took []time.Duration
}

// times measures one file at a time. The measurements take turns, so that other
// load on the machine affects all of them alike.
func (b *mediaBench) times(ctx context.Context, out io.Writer) error {
	var received *simnet.Received // of this round
	all := []*measurement{
		{name: "bare cipher (AES-256-CBC alone)", run: b.cipherAlone},
		{name: "send, in memory (fetch, whatsmeow's Upload, send)", run: b.sendInMemory},
		{name: "send, through the bridge", run: b.send},
		{name: "download, in memory (whatsmeow's Download)", run: func(ctx context.Context) error {
			_, err := b.owner.Download(ctx, received)
			return err
		}},
		{name: "download, through the bridge, first", run: func(ctx context.Context) error { return b.download(ctx, received) }},
		{name: "download, through the bridge, cached", run: func(ctx context.Context) error { return b.download(ctx, received) }},
	}
	for range b.rounds {
		var err error
		if received, err = b.receive(ctx); err != nil {
			return err
		}
		for _, m := range all {
			took, err := stopwatch(func() error { return m.run(ctx) })
			if err != nil {
				return fmt.Errorf("%s: %w", m.name, err)
			}
			m.took = append(m.took, took)
		}
	}
	for _, m := range all {
		slices.Sort(m.took)
		median := m.took[len(m.took)/2].Seconds()
		fmt.Fprintf(out, "%-52s %6.2f s  (%.2f to %.2f)  %5.0f MiB/s\n", m.name, median, m.took[0].Seconds(), m.took[len(m.took)-1].Seconds(), float64(b.size)/(1<<20)/median)
	}
	return nil
}

func stopwatch(do func() error) (time.Duration, error) {
	began := time.Now()
	err := do()
	return time.Since(began), err
}

func (b *mediaBench) cipherAlone(context.Context) error {
	block, err := aes.NewCipher(make([]byte, 32))
	if err != nil {
		return err
	}
	piece := make([]byte, 128<<10)
	encrypter := cipher.NewCBCEncrypter(block, make([]byte, aes.BlockSize))
	for rest := b.file; len(rest) > 0; rest = rest[min(len(rest), len(piece)):] {
		encrypter.CryptBlocks(piece[:min(len(rest), len(piece))], rest[:min(len(rest), len(piece))])
	}
	return nil
}

// sendInMemory sends a URL's file the way programs with whatsmeow usually do.
func (b *mediaBench) sendInMemory(ctx context.Context) error {
	resp, err := http.Get(b.fileURL)
	if err != nil {
		return err
	}
	data, err := io.ReadAll(resp.Body)
	if err := errors.Join(err, resp.Body.Close()); err != nil {
		return err
	}
	_, err = b.owner.SendDocument(ctx, b.friend.PN(), simnet.Media{Data: data, FileName: "file.bin"})
	return err
}

func (b *mediaBench) send(ctx context.Context) error {
	_, err := b.api.Send(ctx, client.File{To: bridge.JID(b.friend.PN().String()), URL: b.fileURL, Type: bridge.MediaDocument}, "")
	return err
}

func (b *mediaBench) download(ctx context.Context, r *simnet.Received) error {
	file, _, err := b.api.Download(ctx, bridge.JID(b.friend.PN().String()), r.Info.ID)
	if err != nil {
		return err
	}
	n, err := io.Copy(io.Discard, file)
	if err == nil && n != b.size {
		err = fmt.Errorf("%d bytes came, not %d", n, b.size)
	}
	return errors.Join(err, file.Close())
}

// receive makes the friend send a file, and waits until the bridge has it.
func (b *mediaBench) receive(ctx context.Context) (*simnet.Received, error) {
	id, err := b.friend.SendDocument(ctx, b.owner.PN(), simnet.Media{Data: b.file, FileName: "file.bin"})
	if err != nil {
		return nil, err
	}
	r, err := b.owner.ReceivedID(ctx, id)
	if err != nil {
		return nil, err
	}
	return r, b.owner.LinkedDevices()[0].WaitAcknowledged(ctx, id)
}

// memory measures the bridge's memory while many files are sent and received.
func (b *mediaBench) memory(ctx context.Context, out io.Writer) error {
	fmt.Fprintln(out)
	if err := b.peak(out, fmt.Sprintf("memory, %d sends at once", b.atOnce), func() error {
		return b.together(func(int) error { return b.send(ctx) })
	}); err != nil {
		return err
	}
	received := make([]*simnet.Received, b.atOnce)
	for i := range received {
		var err error
		if received[i], err = b.receive(ctx); err != nil {
			return err
		}
	}
	return b.peak(out, fmt.Sprintf("memory, %d downloads at once", b.atOnce), func() error {
		return b.together(func(i int) error { return b.download(ctx, received[i]) })
	})
}

func (b *mediaBench) together(do func(i int) error) error {
	errs := make([]error, b.atOnce)
	var all sync.WaitGroup
	for i := range errs {
		all.Go(func() { errs[i] = do(i) })
	}
	all.Wait()
	return errors.Join(errs...)
}

// peak returns the largest growth of the bridge's resident memory during do.
func (b *mediaBench) peak(out io.Writer, name string, do func() error) error {
	before, err := b.bridge.memory("VmRSS")
	if errors.Is(err, os.ErrNotExist) {
		fmt.Fprintf(out, "%-52s not measured on this system\n", name)
		return do()
	}
	if err != nil {
		return err
	}
	// 5 resets the high-water mark (proc(5)).
	if err := os.WriteFile(b.bridge.proc("clear_refs"), []byte("5"), 0); err != nil {
		return err
	}
	took, err := stopwatch(do)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	most, err := b.bridge.memory("VmHWM")
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "%-52s +%d MiB, %d to %d  (%.2f s)\n", name, (most-before)>>20, before>>20, most>>20, took.Seconds())
	return nil
}
