package operations

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"bridged/internal/bridge"
	. "bridged/internal/e2e/harness"
)

const monitoring = "../../../deploy/monitoring/"

// metricName finds the names of metrics in rules and panels.
var metricName = regexp.MustCompile(`\b(?:bridged|process)_[a-z_]+\b`)

// without lists the metrics that a paired bridge with a healthy connection does not have.
var without = []string{"bridged_client_version_expires_timestamp_seconds"}

// TestMonitoring_KnowsOnlyMetricsThatExist: the rules and the panels in deploy/monitoring name metrics
// that a bridge serves.
func TestMonitoring_KnowsOnlyMetricsThatExist(t *testing.T) {
	t.Parallel()
	c := PairedCast(t, "BACKUP_DIR="+t.TempDir())
	c.Stored(t, Say(t, c.Anna, c.Owner.PN(), "a message"))
	Eventually(t, func() error { // the first one is made after the start
		if p := Must(c.Bridge.API.Stats(Within(t), bridge.Time{}))(t); p.Backups == nil || p.Backups.LastAt == nil {
			return fmt.Errorf("the backups are %+v", p.Backups)
		}
		return nil
	})
	served := string(c.Bridge.Get("/metrics").Want(http.StatusOK).Body) + strings.Join(without, " ")
	for _, file := range []string{"alerts.yml", "dashboard.json"} {
		names := metricName.FindAllString(string(Must(os.ReadFile(monitoring+file))(t)), -1)
		if len(names) < 10 {
			t.Errorf("%s has only the metrics %q", file, names)
		}
		for _, name := range names {
			if !strings.Contains(served, name) {
				t.Errorf("%s names %s, which /metrics does not have", file, name)
			}
		}
	}
}

func TestMonitoring_RulesAreRight(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"check", "rules", "alerts.yml"}, {"test", "rules", "alerts.test.yml"}} {
		cmd := exec.CommandContext(Within(t), program(t, "promtool"), args...)
		cmd.Dir = monitoring
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("promtool %s: %v\n%s", strings.Join(args, " "), err, out)
		}
	}
}

// TestMonitoring_PrometheusReadsABridge starts Prometheus with deploy/monitoring/prometheus.yml.
func TestMonitoring_PrometheusReadsABridge(t *testing.T) {
	t.Parallel()
	path := program(t, "prometheus")
	c := PairedCast(t)
	dir := t.TempDir()
	settings := string(Must(os.ReadFile(monitoring + "prometheus.yml"))(t))
	for old, now := range map[string]string{
		"127.0.0.1:8080": c.Bridge.Address, "/etc/prometheus/bridged.token": filepath.Join(dir, "token"), "30s": "1s",
		"alerts.yml": Must(filepath.Abs(monitoring + "alerts.yml"))(t),
	} {
		if !strings.Contains(settings, old) {
			t.Fatalf("prometheus.yml has no %s", old)
		}
		settings = strings.ReplaceAll(settings, old, now)
	}
	for name, text := range map[string]string{"token": TestToken, "prometheus.yml": settings} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	address := "127.0.0.1:" + FreePort(t)
	cmd := exec.CommandContext(t.Context(), path, "--config.file="+filepath.Join(dir, "prometheus.yml"), "--storage.tsdb.path="+filepath.Join(dir, "data"), "--web.listen-address="+address)
	log := NewProcessLog()
	cmd.Stderr = log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // nothing of it is read again
		_ = cmd.Wait()
	})
	ask := func(query string, answer any) error {
		resp, err := http.Get("http://" + address + "/api/v1/" + query)
		if err != nil {
			return err
		}
		defer resp.Body.Close()
		if resp.StatusCode != http.StatusOK {
			return fmt.Errorf("%s: %s", query, resp.Status)
		}
		return json.NewDecoder(resp.Body).Decode(answer)
	}
	Eventually(t, func() error {
		var rules struct {
			Data struct {
				Groups []struct {
					Rules []struct{ Health, Name string }
				}
			}
		}
		if err := ask("rules", &rules); err != nil {
			return fmt.Errorf("%w\n%s", err, log)
		}
		for _, rule := range rules.Data.Groups[0].Rules {
			if rule.Health != "ok" {
				return fmt.Errorf("the rule %s is %s", rule.Name, rule.Health)
			}
		}
		var found struct {
			Data struct {
				Result []struct{ Metric map[string]string }
			}
		}
		if err := ask("query?query=bridged_account_state%7Bstate%3D%22open%22%7D%3D%3D1", &found); err != nil {
			return err
		}
		if len(found.Data.Result) != 1 {
			return fmt.Errorf("found %+v\n%s", found.Data.Result, log)
		}
		return nil
	})
}

// program returns the path of a program, or skips the test if it is not installed.
func program(t *testing.T, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		t.Skip(name + " is not installed")
	}
	return path
}
