package docs

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/oasdiff/yaml"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"bridged/internal/bridge"
	"bridged/internal/client"
	. "bridged/internal/e2e/harness"
)

const homePackage = "../../../examples/home-assistant/bridged.yaml"

// homeConfig is the package as Home Assistant reads it.
type homeConfig struct {
	Commands map[string]struct {
		URL         string
		Method      string
		ContentType string `json:"content_type"`
		Headers     map[string]string
		Payload     string
	} `json:"rest_command"`
	Automations []automation `json:"automation"`
}

type automation struct {
	ID       string
	Triggers []struct {
		Trigger   string
		WebhookID string   `json:"webhook_id"`
		Methods   []string `json:"allowed_methods"`
		LocalOnly bool     `json:"local_only"`
	}
	Conditions []homeCondition
	Actions    []homeAction
}

type homeCondition struct {
	Template string `json:"value_template"`
}

type homeAction struct {
	Action    string
	Data      map[string]string
	Response  string `json:"response_variable"`
	Variables map[string]string
	Choose    []struct {
		Conditions []homeCondition
		Sequence   []homeAction
	}
	If   []homeCondition
	Then []homeAction
}

var secretTag = regexp.MustCompile(`!secret ([a-z_]+)`)

// readHome returns the package with secrets in their places, as JSON and as it is read.
func readHome(t *testing.T, secrets map[string]string) (homeConfig, []byte) {
	t.Helper()
	text := secretTag.ReplaceAllStringFunc(string(Must(os.ReadFile(homePackage))(t)), func(tag string) string {
		name := strings.TrimPrefix(tag, "!secret ")
		if secrets[name] == "" {
			t.Errorf("there is no secret %s", name)
		}
		return string(Must(json.Marshal(secrets[name]))(t))
	})
	data := Must(yaml.YAMLToJSON([]byte(text)))(t)
	var config homeConfig
	if err := json.Unmarshal(data, &config); err != nil {
		t.Fatal(err)
	}
	return config, data
}

// The package has nothing that Home Assistant does not document, and each of its secrets is in
// the file of samples.
func TestRecipes_HomeAssistantReadsThePackage(t *testing.T) {
	t.Parallel()
	var secrets map[string]string
	if _, err := yaml.Unmarshal(Must(os.ReadFile("../../../examples/home-assistant/secrets.yaml"))(t), &secrets, yaml.DecodeOpts{}); err != nil {
		t.Fatal(err)
	}
	_, data := readHome(t, secrets)
	compiler := jsonschema.NewCompiler()
	schema := Must(jsonschema.UnmarshalJSON(bytes.NewReader(Must(os.ReadFile("testdata/home-assistant.json"))(t))))(t)
	if err := compiler.AddResource("package.json", schema); err != nil {
		t.Fatal(err)
	}
	valid := Must(compiler.Compile("package.json"))(t)
	if err := valid.Validate(Must(jsonschema.UnmarshalJSON(bytes.NewReader(data)))(t)); err != nil {
		t.Error(err)
	}
	for _, wrong := range [][2]string{{`"method":"post"`, `"method":"send"`}, {`"timeout":60`, `"timeout":"60 s"`}, {`"value_template"`, `"template"`}, {`"allowed_methods"`, `"methods"`}} {
		broken := bytes.Replace(data, []byte(wrong[0]), []byte(wrong[1]), 1)
		if bytes.Equal(broken, data) || valid.Validate(Must(jsonschema.UnmarshalJSON(bytes.NewReader(broken)))(t)) == nil {
			t.Errorf("the schema does not see %s", wrong[1])
		}
	}
	if page := string(Must(os.ReadFile("../../../integrations/home-assistant/README.md"))(t)); !strings.Contains(page, string(Must(os.ReadFile("../../../examples/home-assistant/secrets.yaml"))(t))) {
		t.Error("integrations/home-assistant does not show the secrets as they are")
	}
}

// home runs the package as Home Assistant does: with its templates' engine, its webhooks, which
// answer 200 whatever they are, and devices that note what is asked of them.
type home struct {
	*httptest.Server
	t      *testing.T
	config homeConfig

	rendering sync.Mutex // held while a template is rendered
	questions *json.Encoder
	answers   *json.Decoder

	mu     sync.Mutex
	called []string          // of devices and notifications; guarded by mu
	posts  []func()          // the posts that came, to be taken again; guarded by mu
	states map[string]string // of entities
}

func newHome(t *testing.T, secrets map[string]string) *home {
	t.Helper()
	h := &home{t: t, states: map[string]string{"sensor.living_room_temperature": "21.5"}}
	h.config, _ = readHome(t, secrets)
	h.startRenderer()
	h.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		headers := make(map[string]any)
		for name := range r.Header {
			headers[strings.ToLower(name)] = r.Header.Get(name)
		}
		take := func() { h.take(strings.TrimPrefix(r.URL.Path, "/api/webhook/"), r.Method, headers, body) }
		h.mu.Lock()
		h.posts = append(h.posts, take)
		h.mu.Unlock()
		take()
		w.WriteHeader(http.StatusOK)
	}))
	t.Cleanup(h.Close)
	return h
}

// take runs the automations of a webhook.
func (h *home) take(id, method string, headers map[string]any, body []byte) {
	for _, a := range h.config.Automations {
		if on := a.Triggers[0]; on.Trigger == "webhook" && on.WebhookID == id && on.LocalOnly && fmt.Sprint(on.Methods) == "["+method+"]" {
			var posted any
			if err := json.Unmarshal(body, &posted); err != nil {
				h.t.Error(err)
			}
			h.automate(a.ID, map[string]any{"trigger": map[string]any{"json": posted, "headers": headers}})
		}
	}
}

// automate runs an automation for a trigger.
func (h *home) automate(id string, variables map[string]any) {
	for _, a := range h.config.Automations {
		if a.ID == id && h.holds(a.Conditions, variables) {
			h.act(a.Actions, variables)
		}
	}
}

func (h *home) act(actions []homeAction, variables map[string]any) {
	for _, a := range actions {
		switch {
		case a.Action != "":
			answer := h.call(a.Action, h.renderAll(a.Data, variables))
			if a.Response != "" {
				variables[a.Response] = answer
			}
		case a.Variables != nil:
			for name, value := range h.renderAll(a.Variables, variables) {
				variables[name] = value
			}
		case a.If != nil:
			if h.holds(a.If, variables) {
				h.act(a.Then, variables)
			}
		}
		for _, choice := range a.Choose {
			if h.holds(choice.Conditions, variables) {
				h.act(choice.Sequence, variables)
				break
			}
		}
	}
}

// call does what an action asks for: of a REST command it makes the request, and returns what
// Home Assistant keeps of the answer.
func (h *home) call(action string, data map[string]string) any {
	domain, name, _ := strings.Cut(action, ".")
	if domain != "rest_command" {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.called = append(h.called, action+" "+data["message"])
		return nil
	}
	command, known := h.config.Commands[name]
	if !known {
		h.t.Errorf("there is no %s", action)
		return nil
	}
	variables := make(map[string]any)
	for name, value := range data {
		variables[name] = value
	}
	req, err := http.NewRequest(strings.ToUpper(command.Method), h.render(command.URL, variables), strings.NewReader(h.render(command.Payload, variables)))
	if err != nil {
		h.t.Error(err)
		return nil
	}
	req.Header.Set("Content-Type", command.ContentType)
	for name, value := range h.renderAll(command.Headers, variables) {
		req.Header.Set(name, value)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		h.t.Error(err)
		return nil
	}
	var content any
	if err := errors.Join(json.NewDecoder(resp.Body).Decode(&content), resp.Body.Close()); err != nil {
		h.t.Error(err)
	}
	return map[string]any{"status": resp.StatusCode, "content": content}
}

func (h *home) holds(conditions []homeCondition, variables map[string]any) bool {
	for _, c := range conditions {
		if h.render(c.Template, variables) != "True" {
			return false
		}
	}
	return true
}

func (h *home) renderAll(templates map[string]string, variables map[string]any) map[string]string {
	rendered := make(map[string]string, len(templates))
	for name, template := range templates {
		rendered[name] = h.render(template, variables)
	}
	return rendered
}

// renderer renders templates with Jinja, as Home Assistant does, and with what it adds: one a
// line, until its input ends.
const renderer = `
import datetime, json, sys
from jinja2.sandbox import ImmutableSandboxedEnvironment
moment = lambda o: datetime.datetime.fromisoformat(o["$moment"]) if "$moment" in o else o
env = ImmutableSandboxedEnvironment()
env.filters["to_json"] = lambda v: json.dumps(v, ensure_ascii=False)
for line in sys.stdin:
    q = json.loads(line, object_hook=moment)
    env.globals["states"] = lambda entity: q["states"].get(entity, "unknown")
    print(json.dumps(env.from_string(q["template"]).render(**q["variables"])), flush=True)
`

// startRenderer starts the renderer, which ends with the test.
func (h *home) startRenderer() {
	h.t.Helper()
	python := exec.Command("python3", "-c", renderer)
	python.Stderr = os.Stderr
	in, out := Must(python.StdinPipe())(h.t), Must(python.StdoutPipe())(h.t)
	if err := python.Start(); err != nil {
		h.t.Fatal(err)
	}
	h.questions, h.answers = json.NewEncoder(in), json.NewDecoder(out)
	h.t.Cleanup(func() {
		if err := errors.Join(in.Close(), python.Wait()); err != nil {
			h.t.Errorf("the renderer: %v", err)
		}
	})
}

func (h *home) render(template string, variables map[string]any) (text string) {
	if !strings.Contains(template, "{{") {
		return template
	}
	h.rendering.Lock()
	defer h.rendering.Unlock()
	err := h.questions.Encode(map[string]any{"template": template, "variables": variables, "states": h.states})
	if err := errors.Join(err, h.answers.Decode(&text)); err != nil {
		h.t.Errorf("%s: %v", template, err)
	}
	return text
}

// wasAsked waits until a device was asked for something.
func (h *home) wasAsked(want string) {
	h.t.Helper()
	Eventually(h.t, func() error {
		h.mu.Lock()
		defer h.mu.Unlock()
		for _, call := range h.called {
			if strings.Contains(call, want) {
				return nil
			}
		}
		return fmt.Errorf("asked for %q, not for %s", h.called, want)
	})
}

// Notes to oneself are done and answered once, however often they are posted; other people's
// messages are not, and what happens at home is told once, or shown as not told.
func TestRecipes_HomeAssistant(t *testing.T) {
	t.Parallel()
	if err := exec.Command("python3", "-c", "import jinja2").Run(); err != nil {
		t.Skip("the templates are rendered by Python's jinja2, which is not installed")
	}
	c := PairedCast(t, "WEBHOOK_ALLOW_PRIVATE=127.0.0.0/8")
	own := bridge.JID(c.Owner.PN().String())
	made := Must(c.Bridge.API.CreateToken(Within(t), client.NewToken{Name: "home", Scopes: []bridge.Scope{bridge.ScopeSend}}))(t)
	secrets := map[string]string{
		"bridged_send": "http://" + c.Bridge.Address + "/api/messages/send", "bridged_authorization": "Bearer " + made.Secret,
		"bridged_recipient": c.Ben.PN().String(), "bridged_webhook": "nobody-guesses-it",
	}
	h := newHome(t, secrets)
	c.Bridge.Secrets = append(c.Bridge.Secrets, made.Secret, "nobody-guesses-it")
	var hook struct{ ID int64 }
	c.Bridge.Post("/api/webhooks", Object{
		"url": h.URL + "/api/webhook/nobody-guesses-it", "types": []string{"message.created"}, "chats": []bridge.JID{own}, "fromMe": true, "allowPrivate": true,
	}).Want(http.StatusCreated).Decode(&hook)

	Say(t, c.Ben, c.Owner.PN(), "lights off")
	Say(t, c.Owner, c.Owner.PN(), " Lights off")
	Must(c.Owner.ReceivedText(Within(t), "The lights are out."))(t)
	h.wasAsked("light.turn_off")
	Say(t, c.Owner, c.Owner.PN(), "How warm is it?")
	Must(c.Owner.ReceivedText(Within(t), "It is 21.5 °C."))(t)
	h.mu.Lock()
	posts, lights := h.posts, strings.Count(strings.Join(h.called, "\n"), "light.turn_off")
	h.mu.Unlock()
	if lights != 1 {
		t.Errorf("the lights were switched %d times", lights)
	}
	for _, again := range posts {
		again()
	}

	door := map[string]any{"trigger": map[string]any{"to_state": map[string]any{"last_changed": map[string]any{"$moment": "2026-11-21T08:15:30.5+00:00"}}}}
	h.automate("whatsapp_front_door", maps.Clone(door))
	h.automate("whatsapp_front_door", maps.Clone(door))
	Must(c.Ben.ReceivedText(Within(t), "The front door has been open for five minutes."))(t)
	c.Bridge.Do(http.MethodPost, "/api/auth/logout", "", "X-Confirm-Wipe", "yes").Want(http.StatusOK)
	later := map[string]any{"trigger": map[string]any{"to_state": map[string]any{"last_changed": map[string]any{"$moment": "2026-11-21T09:15:30.5+00:00"}}}}
	h.automate("whatsapp_front_door", later)
	h.wasAsked("persistent_notification.create")

	for chat, want := range map[bridge.JID][]string{own: {"The lights are out.", "It is 21.5 °C."}, bridge.JID(c.Ben.PN().String()): {"The front door has been open for five minutes."}} {
		var sent []string
		for _, m := range Must(c.Bridge.API.Messages(Within(t), bridge.MessageQuery{Chat: chat, Order: bridge.OrderAsc}))(t).Items {
			if m.FromMe && !strings.Contains(strings.ToLower(m.Content), "lights off") && m.Content != "How warm is it?" {
				sent = append(sent, m.Content)
			}
		}
		if fmt.Sprint(sent) != fmt.Sprint(want) {
			t.Errorf("sent %q, want %q", sent, want)
		}
	}
}
