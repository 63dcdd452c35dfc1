package e2e

import (
	"net/http"
	"strings"
	"testing"
)

// Two demos join a fleet as two accounts, as in deploy/compose.fleet.yml; one
// without a number does not join, whatever else its environment sets.
func TestFleet_DemosJoinWithTheirNumbers(t *testing.T) {
	t.Parallel()
	_, url := natsCluster(t)
	numbers := []string{"15550100200", "15550100201"}
	settings := []string{"NATS_URL=" + url, "NATS_REPLICAS=3", "BRIDGE_TOKEN=" + docsToken}
	for _, number := range numbers {
		d := startDemo(t, append(settings, "DEMO_NUMBER=+"+number)...)
		defer d.interrupt()
	}
	c := callOverNATS(t, url, docsToken)
	for _, number := range numbers {
		c.reaches(number)
		if got := c.ask(number, "GET", "/api/auth/status", nil); got.Status != http.StatusOK {
			t.Errorf("%s: %d %s", number, got.Status, got.Body)
		}
	}
	alone := startDemo(t, settings...)
	defer alone.interrupt()
	if !strings.Contains(alone.stderr.String(), "NATS_URL is not used") {
		t.Errorf("a demo without a number says %s", alone.stderr)
	}
	if got := c.ask(numbers[0], "GET", "/api/auth/status", nil); got.Status != http.StatusOK {
		t.Errorf("beside a demo of its own: %d %s", got.Status, got.Body)
	}
}
