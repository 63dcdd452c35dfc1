package docs

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	integration = regexp.MustCompile(`(?m)^(\w+):\n\tbash (?:\.ci/\w+|interop)/run$`)
	ranByMake   = regexp.MustCompile(`(?m)^ *- run: make (\w+)`)
	ranByChecks = regexp.MustCompile(`\.ci/(\w+)/run`)
	madeTargets = regexp.MustCompile(`(?m)^ *target: \[(.*)\]$`)
)

// Programs of others that talk to bridged run in a workflow each: what runs nowhere breaks
// unnoticed, as generated clients did.
func TestWorkflows_RunEveryIntegration(t *testing.T) {
	makefile, err := os.ReadFile("../../../Makefile")
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob("../../../.github/workflows/*.yml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no workflows: %v", err)
	}
	var run []string
	checks, err := os.ReadFile("../../../.ci/run") // which a workflow runs
	if err != nil {
		t.Fatal(err)
	}
	for _, found := range ranByChecks.FindAllSubmatch(checks, -1) {
		run = append(run, string(found[1]))
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, found := range ranByMake.FindAllSubmatch(text, -1) {
			run = append(run, string(found[1]))
		}
		for _, found := range madeTargets.FindAllSubmatch(text, -1) {
			run = append(run, strings.Split(string(found[1]), ", ")...)
		}
	}
	integrations := integration.FindAllSubmatch(makefile, -1)
	if len(integrations) < 5 {
		t.Errorf("the Makefile has %d integrations, but clients, agents, fleet, interop and n8n are five", len(integrations))
	}
	for _, found := range integrations {
		if target := string(found[1]); !slices.Contains(run, target) {
			t.Errorf("no workflow runs make %s", target)
		}
	}
}
