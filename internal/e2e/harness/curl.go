package harness

import (
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// MainWithCurl is the TestMain of a package whose tests run curl. If curl is not installed, the test binary
// replaces it.
func MainWithCurl(m *testing.M) {
	programs := map[string]func(){}
	if _, err := exec.LookPath("curl"); err != nil || filepath.Base(os.Args[0]) == "curl" {
		programs["curl"] = curl
	}
	testscript.Main(runner{m}, programs)
}

// curl replaces curl. It supports the options that the demo uses.
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
