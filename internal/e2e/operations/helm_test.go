package operations

import (
	"encoding/json"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/oasdiff/yaml"

	. "bridged/internal/e2e/harness"
)

const chart = "../../../deploy/helm/bridged"

// TestHelm_ChartIsAsTheManifests: the chart passes helm's lint, refuses to install without an image, and
// runs the pods that deploy/kubernetes runs. make helm runs it with helm built from its source.
func TestHelm_ChartIsAsTheManifests(t *testing.T) {
	t.Parallel()
	helm := program(t, "helm")
	run := func(args ...string) (string, error) {
		out, err := exec.CommandContext(Within(t), helm, args...).CombinedOutput()
		return string(out), err
	}
	if out, err := run("lint", "--strict", chart, "--set", "image.repository=r"); err != nil {
		t.Errorf("lint: %v\n%s", err, out)
	}
	if out, err := run("template", "--kube-version=1.31.0", "bridged", chart); err == nil || !strings.Contains(out, "set image.repository to the image") {
		t.Errorf("without an image: %v\n%s", err, out)
	}
	out, err := run("template", "--kube-version=1.31.0", "bridged", chart, "--set", "image.repository=bridged,image.tag=1,accounts=3,nats.url=nats://nats:4222")
	if err != nil {
		t.Fatalf("template: %v\n%s", err, out)
	}
	rendered := make(map[string]map[string]any)
	for document := range strings.SplitSeq(strings.TrimPrefix(out, "---\n"), "\n---\n") {
		object := objectOf(t, []byte(document))
		rendered[object["kind"].(string)] = object
	}
	if len(rendered) != 5 {
		t.Fatalf("rendered %d objects\n%s", len(rendered), out)
	}
	for kind, file := range map[string]string{
		"StatefulSet": "statefulset", "Service": "service", "PodDisruptionBudget": "poddisruptionbudget", "NetworkPolicy": "networkpolicy",
	} {
		manifest := objectOf(t, Must(os.ReadFile("../../../deploy/kubernetes/"+file+".yaml"))(t))
		if diff := cmp.Diff(manifest["spec"], withoutInstance(rendered[kind]["spec"])); diff != "" {
			t.Errorf("the %s of the chart is not that of deploy/kubernetes:\n%s", kind, diff)
		}
	}
}

func objectOf(t *testing.T, document []byte) (object map[string]any) {
	t.Helper()
	if err := json.Unmarshal(Must(yaml.YAMLToJSON(document))(t), &object); err != nil {
		t.Fatal(err)
	}
	return object
}

// withoutInstance removes what only a chart has: the release in labels, the annotations of pods, and how
// the image is pulled.
func withoutInstance(value any) any {
	switch value := value.(type) {
	case map[string]any:
		for _, name := range []string{"app.kubernetes.io/instance", "annotations", "imagePullPolicy"} {
			delete(value, name)
		}
		for name := range value {
			value[name] = withoutInstance(value[name])
		}
		if value["image"] == "bridged:1" {
			value["image"] = "bridged"
		}
	case []any:
		for i := range value {
			value[i] = withoutInstance(value[i])
		}
	}
	return value
}
