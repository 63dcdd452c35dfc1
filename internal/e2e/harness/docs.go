package harness

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
)

// Examples in the documentation: blocks that begin with ```sh run against the demo
// as printed, in the order of their page; ```console marks those that start
// programs, or need a container engine or a person.
var (
	exampleBlock = regexp.MustCompile("(?ms)^```sh\n(.*?)^```$")
	ShellBlock   = regexp.MustCompile("(?ms)^```(?:sh|console)\n(.*?)^```$")
	DemoAddress  = regexp.MustCompile(`address +(http://\S+)`)
)

// DocsToken is the examples' token.
const DocsToken = "only-for-the-demo"

// RunPage types the examples of a page into one shell, those of README into any, and
// returns the output of each.
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
