package e2e

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestDemo_ItsLinesWorkAsPrinted runs the demo like a person who has just cloned
// the repository: copies the printed lines, and ends it with Ctrl-C.
func TestDemo_ItsLinesWorkAsPrinted(t *testing.T) {
	t.Parallel()
	d := startDemo(t)
	lines := curlLines(d.stdout.String())
	wanted := []string{
		`"status":"open".*"pushName":"Alex"`,
		`"name":"Wandern am Samstag 🥾".*"name":"عائلة وأصدقاء"|"name":"عائلة وأصدقاء".*"name":"Wandern am Samstag 🥾"`,
		`"ptt":true.*¡Hola Alex!`,
		`"stored":.*"displayName":"Jonas Weber".*"live":.*"displayName":"Jonas Weber"`,
		`"imageMessage".*"name":"¿A qué hora salimos\?".*See you all on Saturday! 🥾`,
		`Hauptstraße 12.*STRASSE.*Hauptstraße 12`,
		`"type":"message.created".*"content":"[^"]`, // the talk goes on
		`"ok":true`,
		`«Hola Sofía!»`, // Sofia's answer
		``,              // a picture
	}
	if len(lines) != len(wanted) {
		t.Fatalf("the demo prints %d lines to try, want %d:\n%s", len(lines), len(wanted), d.stdout)
	}
	for i, pattern := range wanted {
		try := func() error {
			printed := d.shell(lines[i])
			if !regexp.MustCompile(pattern).Match(printed) {
				return fmt.Errorf("%s\nprints %s\nwithout %s", lines[i], printed, pattern)
			}
			return nil
		}
		if pattern == `«Hola Sofía!»` {
			eventually(t, try) // people take a moment to answer
		} else if err := try(); err != nil {
			t.Error(err)
		}
	}
	if oldest, newest := lastMessages(t, d.shell(lines[1])); newest.Sub(oldest) < 12*time.Hour || time.Since(newest) > time.Hour {
		t.Errorf("the chats' last messages are from %v to %v", oldest, newest)
	}
	picture, err := os.ReadFile(filepath.Join(d.dir, "picture.png"))
	if err != nil || !bytes.HasPrefix(picture, []byte("\x89PNG\r\n")) {
		t.Errorf("the picture: %v, %.20q", err, picture)
	}
	d.interrupt()
}

// lastMessages returns the times of the last messages in the chats of a list.
func lastMessages(t *testing.T, list []byte) (oldest, newest time.Time) {
	t.Helper()
	var answer struct {
		Chats []struct{ LastMessageAt time.Time }
	}
	if err := json.Unmarshal(list, &answer); err != nil || len(answer.Chats) < 6 {
		t.Fatalf("%d chats: %v", len(answer.Chats), err)
	}
	for _, chat := range answer.Chats {
		if oldest.IsZero() || chat.LastMessageAt.Before(oldest) {
			oldest = chat.LastMessageAt
		}
		if chat.LastMessageAt.After(newest) {
			newest = chat.LastMessageAt
		}
	}
	return oldest, newest
}

// TestDemo_EndsAtOnceAndLeavesNothing, even before it is set up.
func TestDemo_EndsAtOnceAndLeavesNothing(t *testing.T) {
	t.Parallel()
	d := runDemo(t)
	eventually(t, func() error {
		if !strings.Contains(d.stderr.String(), "Setting up") {
			return errors.New("the demo says nothing yet")
		}
		return nil
	})
	d.interrupt()
}

// demoRun is a running demo.
type demoRun struct {
	t              *testing.T
	dir            string // where its commands run
	temp           string // its directory for temporary files
	cmd            *exec.Cmd
	exited         chan struct{}
	stdout, stderr *processLog
}

// startDemo runs the demo until it has printed everything.
func startDemo(t *testing.T, environ ...string) *demoRun {
	t.Helper()
	d := runDemo(t, environ...)
	eventually(t, func() error {
		select {
		case <-d.exited:
			t.Fatalf("the demo ended by itself (%v):\n%s%s", d.cmd.ProcessState, d.stdout, d.stderr)
		default:
		}
		if !strings.Contains(d.stdout.String(), "leaves nothing behind") {
			return fmt.Errorf("the demo has printed %q, %q", d.stdout, d.stderr)
		}
		return nil
	})
	return d
}

func runDemo(t *testing.T, environ ...string) *demoRun {
	t.Helper()
	d := &demoRun{t: t, dir: t.TempDir(), temp: t.TempDir(), cmd: exec.Command("bridged", "demo"), exited: make(chan struct{}), stdout: newProcessLog(), stderr: newProcessLog()}
	d.cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + d.dir, "TMPDIR=" + d.temp, "LISTEN_ADDR=127.0.0.1:0"}
	d.cmd.Env = append(d.cmd.Env, environ...)
	d.cmd.Dir, d.cmd.Stdout, d.cmd.Stderr = d.dir, d.stdout, d.stderr
	if err := d.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		_ = d.cmd.Wait() // its result is in ProcessState
		close(d.exited)
	}()
	t.Cleanup(func() {
		_ = d.cmd.Process.Kill() // it has ended, unless the test failed
		<-d.exited
	})
	return d
}

// interrupt presses Ctrl-C and checks what is left.
func (d *demoRun) interrupt() {
	d.t.Helper()
	if err := d.cmd.Process.Signal(syscall.SIGINT); err != nil {
		d.t.Fatal(err)
	}
	<-d.exited
	if code := d.cmd.ProcessState.ExitCode(); code != 0 {
		d.t.Errorf("exit code %d after Ctrl-C:\n%s", code, d.stderr)
	}
	left, err := os.ReadDir(d.temp)
	if err != nil || len(left) > 0 {
		d.t.Errorf("left behind: %v, %v", left, err)
	}
	if strings.Contains(d.stderr.String(), "DATA RACE") || strings.Contains(d.stderr.String(), "panic:") {
		d.t.Errorf("the demo wrote:\n%s", d.stderr)
	}
}

// curlLines returns the commands in a text, each as one line.
func curlLines(text string) (lines []string) {
	text = strings.ReplaceAll(text, "\\\n", " ")
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); strings.HasPrefix(line, "curl ") {
			lines = append(lines, line)
		}
	}
	return lines
}

// shell runs a line in a shell and returns its output.
func (d *demoRun) shell(line string) []byte {
	d.t.Helper()
	cmd := exec.Command("sh", "-c", line)
	cmd.Dir = d.dir
	printed, err := cmd.CombinedOutput()
	if err != nil {
		d.t.Fatalf("%s: %v\n%s", line, err, printed)
	}
	return printed
}

// curl stands in for curl if that is not installed. It supports the options that
// the demo uses.
func curl() {
	if err := curlMain(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func curlMain(args []string, stdout io.Writer) error {
	flags := flag.NewFlagSet("curl", flag.ContinueOnError)
	flags.Bool("s", true, "silent")
	method, body, file := flags.String("X", http.MethodGet, "method"), flags.String("d", "", "body"), flags.String("o", "", "output")
	header := http.Header{}
	flags.Func("H", "header", func(line string) error {
		name, value, _ := strings.Cut(line, ":")
		header.Add(name, strings.TrimSpace(value))
		return nil
	})
	address := ""
	for len(args) > 0 {
		if err := flags.Parse(args); err != nil {
			return err
		}
		if args = flags.Args(); len(args) > 0 {
			address, args = args[0], args[1:]
		}
	}
	req, err := http.NewRequest(*method, address, strings.NewReader(*body))
	if err != nil {
		return err
	}
	req.Header = header
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		return err
	}
	if *file != "" {
		return os.WriteFile(*file, data, 0o600)
	}
	_, err = stdout.Write(data)
	return err
}
