package e2e

import (
	"encoding/json"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
)

// flow is a workflow as n8n's editor exports and imports it.
type flow struct {
	Name        string
	Nodes       []flowNode
	Connections map[string]struct{ Main [][]flowTarget }
	Settings    map[string]any
	Active      bool
}

type flowNode struct {
	ID, Name, Type string
	TypeVersion    float64
	Position       []float64
	Parameters     map[string]any
	Credentials    map[string]struct{ ID, Name string }
}

type flowTarget struct {
	Node, Type string
	Index      int
}

// flowTypes lists the kinds of nodes in the workflow, in versions that n8n has,
// with their number of outputs.
var flowTypes = map[string]struct {
	versions []float64
	outputs  int
}{
	"n8n-nodes-base.webhook":          {[]float64{1, 1.1, 2, 2.1}, 1},
	"n8n-nodes-base.extractFromFile":  {[]float64{1, 1.1}, 1},
	"n8n-nodes-base.set":              {[]float64{3, 3.1, 3.2, 3.3, 3.4}, 1},
	"n8n-nodes-base.crypto":           {[]float64{1}, 1},
	"n8n-nodes-base.if":               {[]float64{2, 2.1, 2.2}, 2},
	"n8n-nodes-base.respondToWebhook": {[]float64{1, 1.1, 1.2}, 1},
	"n8n-nodes-base.httpRequest":      {[]float64{3, 4, 4.1, 4.2}, 1},
	"n8n-nodes-base.convertToFile":    {[]float64{1, 1.1}, 1},
}

func readFlow(t *testing.T) (flow, string) {
	t.Helper()
	text := must(os.ReadFile("../../examples/n8n.json"))(t)
	var f flow
	if err := json.Unmarshal(text, &f); err != nil {
		t.Fatal(err)
	}
	return f, string(text)
}

// n8n imports a file if its nodes are of known kinds with unique names, and
// connected, with a way from the webhook to each.
func TestRecipes_N8nImports(t *testing.T) {
	t.Parallel()
	f, _ := readFlow(t)
	if f.Name == "" || f.Active || f.Settings["executionOrder"] != "v1" {
		t.Errorf("named %q, active %v, settings %v", f.Name, f.Active, f.Settings)
	}
	nodes, ids := map[string]flowNode{}, map[string]bool{}
	for _, n := range f.Nodes {
		kind, known := flowTypes[n.Type]
		if !known || !slices.Contains(kind.versions, n.TypeVersion) {
			t.Errorf("%s: n8n has no %s %v", n.Name, n.Type, n.TypeVersion)
		}
		if _, twice := nodes[n.Name]; twice || ids[n.ID] || n.Name == "" || n.ID == "" || len(n.Position) != 2 || n.Parameters == nil {
			t.Errorf("%s: its name, id, position or parameters", n.Name)
		}
		for _, credential := range n.Credentials {
			if credential.ID != "" {
				t.Errorf("%s names a credential of a certain n8n", n.Name)
			}
		}
		nodes[n.Name], ids[n.ID] = n, true
	}
	reached := map[string]bool{}
	var walk func(name string)
	walk = func(name string) {
		if reached[name] {
			return
		}
		reached[name] = true
		for _, output := range f.Connections[name].Main {
			for _, to := range output {
				walk(to.Node)
			}
		}
	}
	walk("From bridged")
	for from, outputs := range f.Connections {
		if n, ok := nodes[from]; !ok || len(outputs.Main) > flowTypes[n.Type].outputs {
			t.Errorf("there is no node %s with %d outputs", from, len(outputs.Main))
		}
		for _, output := range outputs.Main {
			for _, to := range output {
				if _, ok := nodes[to.Node]; !ok || to.Type != "main" || to.Index != 0 {
					t.Errorf("%s leads to %+v", from, to)
				}
			}
		}
	}
	for name, n := range nodes {
		if !reached[name] {
			t.Errorf("nothing leads to %s", name)
		}
		if n.Type != "n8n-nodes-base.respondToWebhook" && len(f.Connections[name].Main) == 0 {
			t.Errorf("%s ends without an answer to the bridge", name)
		}
	}
}

var (
	flowReference  = regexp.MustCompile(`\$\('([^']*)'\)`)
	flowExpression = regexp.MustCompile(`\{\{(.*?)\}\}`)
	flowField      = regexp.MustCompile(`JSON\.parse\(\$json\.raw\)((?:\??\.\w+)+)`)
	flowHeader     = regexp.MustCompile(`headers\['([^']*)'\]`)
)

// Expressions refer to existing nodes, and to fields that the document says are
// posted.
func TestRecipes_N8nExpressions(t *testing.T) {
	t.Parallel()
	f, text := readFlow(t)
	doc := must(openapi3.NewLoader().LoadFromFile("../api/openapi.yaml"))(t)
	var values []string
	eachString(must(asAny(text))(t), func(s string) {
		if strings.HasPrefix(s, "=") {
			values = append(values, s)
		} else if strings.Contains(s, "{{") {
			t.Errorf("%q is no expression: it does not begin with =", s)
		}
	})
	if len(values) < 10 {
		t.Fatalf("%d expressions", len(values))
	}
	posted := doc.Webhooks["message.created"].Post
	for _, value := range values {
		if strings.Count(value, "{{") != len(flowExpression.FindAllString(value, -1)) {
			t.Errorf("%s: braces", value)
		}
		for _, found := range flowReference.FindAllStringSubmatch(value, -1) {
			if !slices.ContainsFunc(f.Nodes, func(n flowNode) bool { return n.Name == found[1] }) {
				t.Errorf("%s: there is no node %s", value, found[1])
			}
		}
		for _, found := range flowHeader.FindAllStringSubmatch(value, -1) {
			if posted.Parameters.GetByInAndName("header", found[1]) == nil {
				t.Errorf("%s: %s is not posted", value, found[1])
			}
		}
		for _, found := range flowField.FindAllStringSubmatch(value, -1) {
			schema := posted.RequestBody.Value.Content["application/json"].Schema
			for name := range strings.SplitSeq(strings.TrimLeft(strings.ReplaceAll(found[1], "?", ""), "."), ".") {
				if schema = schema.Value.Properties[name]; schema == nil {
					t.Fatalf("%s: what is posted has no %s", value, name)
				}
			}
		}
	}
}

// jsonName matches the names in an object that an expression builds.
var jsonName = regexp.MustCompile(`[{,] *(\w+):`)

// Calls of the bridge are in the document with their fields and are safe to repeat;
// their answers decide whether the bridge posts again.
func TestRecipes_N8nCalls(t *testing.T) {
	t.Parallel()
	f, _ := readFlow(t)
	doc := must(openapi3.NewLoader().LoadFromFile("../api/openapi.yaml"))(t)
	calls := 0
	for _, n := range f.Nodes {
		if n.Type != "n8n-nodes-base.httpRequest" {
			continue
		}
		calls++
		url, method := n.Parameters["url"].(string), n.Parameters["method"].(string)
		path, ok := strings.CutPrefix(url, "={{ $('Settings').first().json.bridge }}")
		item := doc.Paths.Value(path)
		if !ok || item == nil || item.GetOperation(method) == nil {
			t.Fatalf("%s calls %s %s", n.Name, method, url)
		}
		kind, fields := "application/json", []string{}
		if n.Parameters["contentType"] == "multipart-form-data" {
			kind = "multipart/form-data"
			for _, p := range n.Parameters["bodyParameters"].(map[string]any)["parameters"].([]any) {
				fields = append(fields, p.(map[string]any)["name"].(string))
			}
		} else {
			for _, found := range jsonName.FindAllStringSubmatch(n.Parameters["jsonBody"].(string), -1) {
				fields = append(fields, found[1])
			}
		}
		schema := item.GetOperation(method).RequestBody.Value.Content[kind].Schema.Value
		for _, name := range fields {
			if schema.Properties[name] == nil {
				t.Errorf("%s: %s takes no %s", n.Name, path, name)
			}
		}
		for _, name := range schema.Required {
			if !slices.Contains(fields, name) {
				t.Errorf("%s: %s needs %s", n.Name, path, name)
			}
		}
		text := string(must(json.Marshal(n.Parameters))(t))
		if !strings.Contains(text, `{"name":"Idempotency-Key","value":"={{ $('Message').first().json.key }}"}`) || n.Parameters["genericAuthType"] != "httpBearerAuth" ||
			!strings.Contains(text, `"neverError":true`) {
			t.Errorf("%s: its key, its token, or what becomes of refusals: %s", n.Name, text)
		}
	}
	if calls != 2 {
		t.Errorf("%d calls of the bridge", calls)
	}
}

func asAny(text string) (value any, err error) {
	err = json.Unmarshal([]byte(text), &value)
	return value, err
}

// eachString calls do for every string in a JSON value.
func eachString(value any, do func(string)) {
	switch value := value.(type) {
	case string:
		do(value)
	case []any:
		for _, one := range value {
			eachString(one, do)
		}
	case map[string]any:
		for _, one := range value {
			eachString(one, do)
		}
	}
}
