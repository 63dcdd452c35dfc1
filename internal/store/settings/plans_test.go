package settings

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"bridged/internal/bridge"
	"bridged/internal/sqlite"
	"bridged/migrations"
)

// TestPlans_OfDeliveriesAreCheap: no query reads a whole table, or sorts rows that an index has in
// order.
func TestPlans_OfDeliveriesAreCheap(t *testing.T) {
	path := filepath.Join(t.TempDir(), "bridged.db")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := sqlite.Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for _, name := range migrations.Names() {
		script, err := fs.ReadFile(migrations.FS, name)
		if err == nil {
			err = c.Script(string(script))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	wantCheap := func(query string, args ...any) {
		for row := range c.Rows("EXPLAIN QUERY PLAN "+query, args...) {
			var step string
			row.Scan(new(int), new(int), new(int), &step)
			if strings.Contains(step, "TEMP B-TREE") || strings.HasPrefix(step, "SCAN ") {
				t.Errorf("%s\nis planned with %s", query, step)
			}
		}
	}
	for row := range c.Rows("EXPLAIN QUERY PLAN "+dueQuery, 1, "[]", 1, 1, 1) {
		var step string
		row.Scan(new(int), new(int), new(int), &step)
		if step == "SCAN deliveries" || step == "SCAN d" {
			t.Errorf("the due deliveries are found with %s", step)
		}
	}
	for _, q := range []bridge.DeliveryQuery{{}, {Status: bridge.WebhookDelivered}, {Cursor: sqlite.Cursor(listDeliveries, 9)}} {
		query, args := deliveriesQuery(c, q)
		wantCheap(query, args...)
	}
	if c.Err() != nil {
		t.Error(c.Err())
	}
}
