package doctor

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"bridged/internal/dbfile"
)

func TestExamine_EndsAlsoWhereACheckHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began, hang := time.Now(), make(chan struct{})
		defer close(hang)
		report := Examine(t.Context(), []Check{
			{Name: "slow", Look: func(context.Context) []Finding { <-hang; return nil }},
			{Name: "quick", Look: func(context.Context) []Finding { return []Finding{ok("done")} }},
		})
		if took := time.Since(began); took != timeout {
			t.Errorf("took %v, want %v", took, timeout)
		}
		if len(report.Findings) != 2 || report.Findings[0].Verdict != Warn || report.Findings[1].Message != "done" || !report.OK {
			t.Errorf("found %+v", report)
		}
	})
}

func TestExamine_ShowsNoWholeNumber(t *testing.T) {
	look := func(context.Context) []Finding {
		return []Finding{fail("the account 15550100200 has it", "ask 15550100201@s.whatsapp.net").about("account")}
	}
	report := Examine(t.Context(), []Check{{Name: "x", Look: look}})
	if text := report.String(); strings.Contains(text, "1555010020") || !strings.Contains(text, "…00 has it") || !strings.Contains(text, "…01@") {
		t.Errorf("the report is %s", text)
	}
	if report.OK || report.Findings[0].Check != "account" {
		t.Errorf("found %+v", report)
	}
}

func TestCompare_JudgesTheClock(t *testing.T) {
	now := time.Date(2026, 11, 21, 8, 0, 0, 0, time.UTC)
	for off, want := range map[time.Duration]Verdict{
		0: OK, 29 * time.Second: OK, -29 * time.Second: OK, time.Minute: Warn, -time.Minute: Warn, time.Hour: Fail, -time.Hour: Fail,
	} {
		if found := compare(now.Add(off), now, now.Add(200*time.Millisecond)); found.Verdict != want {
			t.Errorf("off by %v: %+v, want %s", off, found, want)
		}
	}
}

// wayTo returns a way on which every address is that of a listener.
func wayTo(server *httptest.Server, address string) Way {
	transport := server.Client().Transport.(*http.Transport).Clone()
	transport.DialContext = func(ctx context.Context, network, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, network, address)
	}
	transport.TLSClientConfig.ServerName = "example.com" // which the test's certificate is for
	return Way{HTTP: &http.Client{Transport: transport}}
}

func TestNetwork_TellsHowFarAConnectionCame(t *testing.T) {
	answering := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Date", time.Now().Add(-time.Hour).UTC().Format(http.TimeFormat))
		w.WriteHeader(http.StatusBadRequest)
	}))
	t.Cleanup(answering.Close)
	plain := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(plain.Close)
	closed := httptest.NewServer(http.NotFoundHandler())
	closed.Close()
	for name, test := range map[string]struct {
		address string
		change  func(*Way)
		verdict Verdict
		says    string
	}{
		"answers":          {address: answering.Listener.Addr().String(), verdict: OK, says: "answers in"},
		"not TLS":          {address: plain.Listener.Addr().String(), verdict: Fail, says: "TLS fails"},
		"nobody there":     {address: closed.Listener.Addr().String(), verdict: Fail, says: "nothing answers"},
		"through a proxy":  {address: closed.Listener.Addr().String(), change: func(w *Way) { w.Proxied = true }, verdict: Fail, says: "through PROXY_URL"},
		"simulated":        {address: answering.Listener.Addr().String(), change: func(w *Way) { w.Simulated = true }, verdict: Warn, says: "not WhatsApp"},
		"simulated, ended": {address: closed.Listener.Addr().String(), change: func(w *Way) { w.Simulated = true }, verdict: Fail, says: "does not answer"},
	} {
		t.Run(name, func(t *testing.T) {
			way := wayTo(answering, test.address)
			if test.change != nil {
				test.change(&way)
			}
			report := Examine(t.Context(), []Check{Network(way)})
			for _, f := range report.Findings {
				if f.Verdict != test.verdict || !strings.Contains(f.Message+f.Remedy, test.says) || (f.Verdict != OK) != (f.Remedy != "") {
					t.Errorf("found %+v", f)
				}
			}
		})
	}
	if report := Examine(t.Context(), []Check{Clock(wayTo(answering, answering.Listener.Addr().String()))}); report.OK {
		t.Errorf("an hour off: %+v", report)
	}
	resolved := Way{HTTP: &http.Client{Transport: &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) {
		return nil, errors.New("no such host")
	}}}}
	if report := Examine(t.Context(), []Check{Network(resolved)}); !strings.Contains(report.String(), "its name has no address") {
		t.Errorf("without DNS: %s", report)
	}
}

func TestDataDir_FindsWhatIsWrongAndChangesNothing(t *testing.T) {
	for name, test := range map[string]struct {
		make func(dir string) error
		runs bool
		want Verdict
		says string
	}{
		"missing":     {make: os.Remove, want: Warn, says: "does not exist"},
		"a file":      {make: func(dir string) error { return errors.Join(os.Remove(dir), os.WriteFile(dir, nil, 0o600)) }, want: Fail, says: "DATA_DIR is not a directory"},
		"new":         {make: func(string) error { return nil }, want: Warn, says: "there is no bridged.db yet"},
		"no database": {make: damaged, want: Fail, says: "bridged.db is damaged"},
		"being used":  {make: damaged, runs: true, want: Warn, says: "the bridge checks it itself"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "data #1?")
			if err := os.Mkdir(dir, 0o700); err != nil {
				t.Fatal(err)
			}
			if err := test.make(dir); err != nil {
				t.Fatal(err)
			}
			before, _ := os.ReadDir(dir)
			report := Examine(t.Context(), []Check{DataDir(dir, func(context.Context) bool { return test.runs }, dbfile.Database{Name: "bridged.db", Repair: "restore it"})})
			if report.OK != (test.want != Fail) || !strings.Contains(report.String(), test.says) {
				t.Errorf("found %s", report)
			}
			if after, _ := os.ReadDir(dir); len(after) != len(before) {
				t.Errorf("%d files, %d before", len(after), len(before))
			}
		})
	}
}

func damaged(dir string) error {
	return os.WriteFile(filepath.Join(dir, "bridged.db"), []byte("nothing of the kind"), 0o600)
}
