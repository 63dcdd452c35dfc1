package harness

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
)

// demoRun is a running demo.
type demoRun struct {
	t              testing.TB
	Dir            string // where its commands run
	temp           string // its directory for temporary files
	cmd            *exec.Cmd
	exited         chan struct{}
	Stdout, Stderr *ProcessLog
}

// StartDemo runs the demo until it has printed everything.
func StartDemo(t testing.TB, environ ...string) *demoRun {
	t.Helper()
	d := RunDemo(t, environ...)
	Eventually(t, func() error {
		select {
		case <-d.exited:
			t.Fatalf("the demo ended by itself (%v):\n%s%s", d.cmd.ProcessState, d.Stdout, d.Stderr)
		default:
		}
		if !strings.Contains(d.Stdout.String(), "leaves nothing behind") {
			return fmt.Errorf("the demo has printed %q, %q", d.Stdout, d.Stderr)
		}
		return nil
	})
	return d
}

func RunDemo(t testing.TB, environ ...string) *demoRun {
	t.Helper()
	d := &demoRun{t: t, Dir: t.TempDir(), temp: t.TempDir(), cmd: Bridged("demo"), exited: make(chan struct{}), Stdout: NewProcessLog(), Stderr: NewProcessLog()}
	d.cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + d.Dir, "TMPDIR=" + d.temp, "LISTEN_ADDR=127.0.0.1:0"}
	d.cmd.Env = append(d.cmd.Env, environ...)
	d.cmd.Dir, d.cmd.Stdout, d.cmd.Stderr = d.Dir, d.Stdout, d.Stderr
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

// Interrupt presses Ctrl-C and checks that nothing is left.
func (d *demoRun) Interrupt() {
	d.t.Helper()
	if err := d.cmd.Process.Signal(syscall.SIGINT); err != nil {
		d.t.Fatal(err)
	}
	<-d.exited
	if code := d.cmd.ProcessState.ExitCode(); code != 0 {
		d.t.Errorf("exit code %d after Ctrl-C:\n%s", code, d.Stderr)
	}
	left, err := os.ReadDir(d.temp)
	if err != nil || len(left) > 0 {
		d.t.Errorf("left behind: %v, %v", left, err)
	}
	if strings.Contains(d.Stderr.String(), "DATA RACE") || strings.Contains(d.Stderr.String(), "panic:") {
		d.t.Errorf("the demo wrote:\n%s", d.Stderr)
	}
}

// Shell runs a line in a shell and returns its output.
func (d *demoRun) Shell(line string) []byte {
	d.t.Helper()
	cmd := exec.Command("sh", "-c", line)
	cmd.Dir = d.Dir
	printed, err := cmd.CombinedOutput()
	if err != nil {
		d.t.Fatalf("%s: %v\n%s", line, err, printed)
	}
	return printed
}

// Examples in the documentation. Blocks that begin with ```sh run against the demo as printed, in the order of
// their page. Blocks that begin with ```console start programs, or need a container engine or a person.
var (
	exampleBlock = regexp.MustCompile("(?ms)^```sh\n(.*?)^```$")
	ShellBlock   = regexp.MustCompile("(?ms)^```(?:sh|console)\n(.*?)^```$")
	EmptyMatches = regexp.MustCompile(`"matches":\s*\[\]|Nothing was found\.|There are no such`)
	DemoAddress  = regexp.MustCompile(`address +(http://\S+)`)
)

// DocsToken is the examples' token.
const DocsToken = "only-for-the-demo"

// RunPage types the examples of a page into bash, or of README into sh, and returns the output of each.
func (d *demoRun) RunPage(page, address string) []string {
	d.t.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		d.t.Fatal(err)
	}
	const separator = "=== next example ==="
	var script strings.Builder
	for _, block := range exampleBlock.FindAllStringSubmatch(string(text), -1) {
		fmt.Fprintf(&script, "echo; echo '%s'\n%s", separator, strings.ReplaceAll(block[1], "http://127.0.0.1:8080", address))
	}
	if script.Len() == 0 {
		return nil
	}
	shell := "bash"
	if filepath.Base(page) == "README.md" {
		shell = "sh"
	}
	cmd := exec.Command(shell, "-eu", "-c", script.String())
	cmd.Dir = d.Dir
	printed, err := cmd.CombinedOutput()
	if err != nil {
		d.t.Errorf("%s: %v\n%s", page, err, printed)
	}
	return strings.Split(string(printed), separator)[1:]
}
