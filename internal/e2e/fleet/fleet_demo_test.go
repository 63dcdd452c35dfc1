package fleet

import (
	"net/http"
	"strings"
	"testing"

	. "bridged/internal/e2e/harness"
)

// Two demos join a fleet as two accounts, as in deploy/compose.fleet.yml; one
// without a number does not join, whatever else its environment sets.
func TestFleet_DemosJoinWithTheirNumbers(t *testing.T) {
	t.Parallel()
	_, url := natsCluster(t)
	numbers := []string{"15550100200", "15550100201"}
	settings := []string{"NATS_URL=" + url, "NATS_REPLICAS=3", "BRIDGE_TOKEN=" + DocsToken}
	for _, number := range numbers {
		d := StartDemo(t, append(settings, "DEMO_NUMBER=+"+number)...)
		defer d.Interrupt()
	}
	c := callOverNATS(t, url, DocsToken)
	for _, number := range numbers {
		c.reaches(number)
		if got := c.ask(number, "GET", "/api/auth/status", nil); got.Status != http.StatusOK {
			t.Errorf("%s: %d %s", number, got.Status, got.Body)
		}
	}
	alone := StartDemo(t, settings...)
	defer alone.Interrupt()
	if !strings.Contains(alone.Stderr.String(), "NATS_URL is not used") {
		t.Errorf("a demo without a number says %s", alone.Stderr)
	}
	if got := c.ask(numbers[0], "GET", "/api/auth/status", nil); got.Status != http.StatusOK {
		t.Errorf("beside a demo of its own: %d %s", got.Status, got.Body)
	}
}
