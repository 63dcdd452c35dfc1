package main

import (
	"errors"
	"flag"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/oasdiff/yaml"

	"bridged/internal/config"
)

// manifest is one file of deploy/, as far as the tests look at it.
type manifest struct {
	APIVersion, Kind string
	Metadata         struct {
		Name   string
		Labels map[string]string
	}
	Spec struct {
		ServiceName                   string
		Replicas                      int
		ClusterIP                     string
		Selector                      map[string]any
		Ports                         []struct{ Name, TargetPort string }
		Template                      struct{ Metadata, Spec podPart }
		VolumeClaimTemplates          []struct{ Metadata struct{ Name string } }
		TerminationGracePeriodSeconds int
		// Of a network policy.
		PodSelector     struct{ MatchLabels map[string]any }
		PolicyTypes     []string
		Ingress, Egress []networkRule
	}
	// Of a kustomization.
	Resources          []string
	ConfigMapGenerator []struct {
		Name     string
		Literals []string
	}
	SecretGenerator []struct {
		Name        string
		Envs, Files []string
	}
	Images []struct{ Name string }
}

// networkRule lets some peers through to some ports.
type networkRule struct {
	From, To []struct {
		PodSelector, NamespaceSelector struct{ MatchLabels map[string]string }
		IPBlock                        struct {
			CIDR   string
			Except []string
		}
	}
	Ports []struct{ Port any }
}

// podPart is what a pod's template has of metadata or specification.
type podPart struct {
	Labels                        map[string]string
	TerminationGracePeriodSeconds int
	SecurityContext               struct{ RunAsUser, FsGroup int }
	Containers                    []container
	Volumes                       []struct {
		Name   string
		Secret struct{ SecretName string }
	}
}

type container struct {
	Image   string
	EnvFrom []struct{ ConfigMapRef struct{ Name string } }
	Env     []struct{ Name, Value string }
	Ports   []struct {
		Name          string
		ContainerPort int
	}
	StartupProbe, LivenessProbe, ReadinessProbe struct{ HTTPGet struct{ Path, Port string } }
	VolumeMounts                                []struct{ Name, MountPath string }
	Resources                                   struct{ Limits map[string]string }
}

const deployed = "../../deploy"

func readYAML(t *testing.T, path string, into any) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(deployed, path))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := yaml.Unmarshal(data, into, yaml.DecodeOpts{}); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
}

// dockerfile returns what the image's recipe says of something.
func dockerfile(t *testing.T, pattern string) string {
	t.Helper()
	data, err := os.ReadFile("../../Dockerfile")
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile(pattern).FindSubmatch(data)
	if found == nil {
		t.Fatalf("the Dockerfile has no %s", pattern)
	}
	return string(found[1])
}

// The files for Kubernetes fit together, fit the image and the routes, and configure
// a bridge that starts.
func TestDeploy_KubernetesFits(t *testing.T) {
	var kustomization manifest
	readYAML(t, "kubernetes/kustomization.yaml", &kustomization)
	files, err := filepath.Glob(deployed + "/kubernetes/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	kinds := map[string]manifest{}
	for _, file := range files {
		if name := filepath.Base(file); name != "kustomization.yaml" {
			if !slices.Contains(kustomization.Resources, name) {
				t.Errorf("%s is not applied", name)
			}
			var m manifest
			readYAML(t, "kubernetes/"+name, &m)
			kinds[m.Kind] = m
		}
	}
	if len(kinds) != len(kustomization.Resources) || len(kinds) != 4 {
		t.Fatalf("%d kinds, %v applied", len(kinds), kustomization.Resources)
	}
	set := kinds["StatefulSet"]
	pod, labels := set.Spec.Template.Spec, set.Spec.Template.Metadata.Labels
	for kind, selector := range map[string]any{
		"StatefulSet": set.Spec.Selector["matchLabels"], "Service": kinds["Service"].Spec.Selector, "PodDisruptionBudget": kinds["PodDisruptionBudget"].Spec.Selector["matchLabels"],
		"NetworkPolicy": kinds["NetworkPolicy"].Spec.PodSelector.MatchLabels,
	} {
		if chosen, ok := selector.(map[string]any); !ok || len(chosen) != len(labels) || chosen["app.kubernetes.io/name"] != labels["app.kubernetes.io/name"] {
			t.Errorf("%s chooses %v, the pods have %v", kind, selector, labels)
		}
	}
	c := pod.Containers[0]
	switch {
	case set.Spec.ServiceName != kinds["Service"].Metadata.Name || kinds["Service"].Spec.Ports[0].TargetPort != c.Ports[0].Name:
		t.Error("the service is not that of the pods")
	case c.Image != kustomization.Images[0].Name || pod.Volumes[0].Secret.SecretName != kustomization.SecretGenerator[0].Name || c.EnvFrom[0].ConfigMapRef.Name != kustomization.ConfigMapGenerator[0].Name:
		t.Error("a name is not one of the kustomization")
	case dockerfile(t, `EXPOSE (\d+)`) != "8080" || c.Ports[0].ContainerPort != 8080:
		t.Errorf("port %d", c.Ports[0].ContainerPort)
	case dockerfile(t, `USER (\d+):`) != "65532" || pod.SecurityContext.RunAsUser != 65532 || pod.SecurityContext.FsGroup != 65532:
		t.Errorf("user %+v", pod.SecurityContext)
	case pod.TerminationGracePeriodSeconds <= int((requestsTimeout + 2*cancelTimeout).Seconds()):
		t.Error("a stop is not waited for")
	case set.Spec.VolumeClaimTemplates[0].Metadata.Name != c.VolumeMounts[0].Name || pod.Volumes[0].Name != c.VolumeMounts[1].Name:
		t.Error("what is mounted is not there")
	}
	if c.Resources.Limits["memory"] == "" {
		t.Error("a pod's memory has no limit")
	}
	checkPolicy(t, kinds["NetworkPolicy"], kinds["Service"].Spec.Ports[0].TargetPort)
	routes, err := os.ReadFile("../../internal/api/openapi.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{c.StartupProbe.HTTPGet.Path, c.LivenessProbe.HTTPGet.Path, c.ReadinessProbe.HTTPGet.Path} {
		if !strings.Contains(string(routes), "\n  "+path+":\n") {
			t.Errorf("a probe asks for %q", path)
		}
	}
	environ, hasCreds := slices.Clone(kustomization.ConfigMapGenerator[0].Literals), false
	for _, v := range c.Env {
		if v.Name == "BRIDGE_TOKEN_FILE" {
			if !strings.HasPrefix(v.Value, c.VolumeMounts[1].MountPath+"/") {
				t.Errorf("the token is read from %s", v.Value)
			}
			v.Name, v.Value = "BRIDGE_TOKEN", testToken
		}
		if v.Name == "NATS_CREDS_FILE" {
			if name, inside := strings.CutPrefix(v.Value, c.VolumeMounts[1].MountPath+"/"); !inside || !slices.Contains(kustomization.SecretGenerator[0].Files, name) {
				t.Errorf("the credentials are read from %s", v.Value)
			}
			hasCreds, v.Value = true, testCreds(t)
		}
		if v.Name == "DATA_DIR" && !strings.HasPrefix(v.Value, c.VolumeMounts[0].MountPath+"/") {
			t.Errorf("DATA_DIR %s is not below the volume, whose root is not the program's", v.Value)
		}
		environ = append(environ, v.Name+"="+v.Value)
	}
	if checkEnviron(t, environ); !hasCreds {
		t.Error("the bridges have no credentials for NATS")
	}
}

// checkPolicy checks that the policy lets in to the API alone, and out to NATS,
// names and public addresses.
func checkPolicy(t *testing.T, policy manifest, api string) {
	t.Helper()
	spec := policy.Spec
	if !slices.Equal(spec.PolicyTypes, []string{"Ingress", "Egress"}) || len(spec.Ingress) != 1 || len(spec.Ingress[0].From) != 1 || spec.Ingress[0].Ports[0].Port != api {
		t.Fatalf("the policy lets in %+v, %+v", spec.PolicyTypes, spec.Ingress)
	}
	var toNATS bool
	for _, rule := range spec.Egress {
		if len(rule.To) == 0 || len(rule.Ports) == 0 {
			t.Errorf("a rule lets out to everything: %+v", rule)
		}
		for _, peer := range rule.To {
			toNATS = toNATS || peer.PodSelector.MatchLabels["app.kubernetes.io/name"] == "nats"
			if peer.IPBlock.CIDR == "0.0.0.0/0" && !(slices.Contains(peer.IPBlock.Except, "10.0.0.0/8") && slices.Contains(peer.IPBlock.Except, "169.254.0.0/16")) {
				t.Errorf("a rule lets out to private addresses: %+v", peer)
			}
		}
	}
	if !toNATS {
		t.Error("the policy keeps the bridges from NATS")
	}
}

// testCreds returns a file that looks like credentials.
func testCreds(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "nats.creds")
	if err := os.WriteFile(path, []byte("-----BEGIN NATS USER JWT-----\n-----BEGIN USER NKEY SEED-----\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

const testToken = "a-token-of-the-tests-0123456789"

// checkEnviron checks that a bridge starts with an environment, and reads all of it.
func checkEnviron(t *testing.T, environ []string, others ...string) {
	t.Helper()
	known := append(config.Variables(), "TMPDIR")
	for _, setting := range environ {
		if name, _, _ := strings.Cut(setting, "="); !slices.Contains(append(known, others...), name) {
			t.Errorf("%s is no variable of bridged", name)
		}
	}
	c, err := config.Read(environ)
	if err != nil || c.NATSURL == "" || c.NATSReplicas != 3 {
		t.Errorf("%v: %q, %d replicas", err, c.NATSURL, c.NATSReplicas)
	}
}

// composeFile is a file for Docker Compose with several services.
type composeFile struct {
	Services map[string]struct {
		Build, Image string
		Command      []string
		EnvFile      any `json:"env_file"`
		Environment  map[string]string
		Volumes      []string
		Ports        []string
		DependsOn    map[string]any `json:"depends_on"`
		MemLimit     string         `json:"mem_limit"`
		PidsLimit    int            `json:"pids_limit"`
	}
	Volumes map[string]any
}

// checkCredentials starts a server as it is configured, without its cluster, and
// connects to it with the credentials of the bridges, and without.
func checkCredentials(t *testing.T, o *server.Options, addresses string) {
	t.Helper()
	if o.Cluster.Username == "" || o.Cluster.Password == "" || o.Routes[0].User.String() != o.Cluster.Username+":"+o.Cluster.Password {
		t.Errorf("%s: the cluster is open to everybody: %+v", o.ServerName, o.Cluster)
	}
	alone := *o
	alone.Cluster, alone.Routes, alone.StoreDir, alone.Host, alone.Port, alone.HTTPPort, alone.NoLog = server.ClusterOpts{}, nil, t.TempDir(), "127.0.0.1", -1, 0, true
	s, err := server.NewServer(&alone)
	if err != nil {
		t.Fatal(err)
	}
	go s.Start()
	defer func() { s.Shutdown(); s.WaitForShutdown() }()
	if !s.ReadyForConnections(30 * time.Second) {
		t.Fatalf("%s did not start", o.ServerName)
	}
	first, err := url.Parse(strings.Split(addresses, ",")[0])
	if err != nil {
		t.Fatal(err)
	}
	for _, user := range []*url.Userinfo{first.User, nil, url.UserPassword("fleet", "guessed")} {
		at := url.URL{Scheme: first.Scheme, User: user, Host: s.Addr().String()}
		conn, err := nats.Connect(at.String())
		if err == nil {
			conn.Close()
		}
		if known := user == first.User; (err == nil) != known || !known && !errors.Is(err, nats.ErrAuthorization) {
			t.Errorf("%s: %v for %v", o.ServerName, err, at.Redacted())
		}
	}
}

// Base images and those of other services are the ones of a digest, and what runs
// on a machine is kept from taking all of it.
func TestDeploy_ImagesAreOfADigest(t *testing.T) {
	digest := regexp.MustCompile(`^[a-z0-9./-]+:[A-Za-z0-9.-]+@sha256:[0-9a-f]{64}$`)
	images := []string{dockerfile(t, `ARG BUILD_IMAGE=(\S+)`), dockerfile(t, `ARG RUNTIME_IMAGE=(\S+)`)}
	for _, path := range []string{"compose.fleet.yml", "accounts/compose.yml", "../docker-compose.yml"} {
		var compose composeFile
		readYAML(t, path, &compose)
		for name, service := range compose.Services {
			if service.Image != "bridged" {
				images = append(images, service.Image)
			}
			if service.MemLimit == "" || service.PidsLimit == 0 {
				t.Errorf("%s: %s may take all memory, or all processes", path, name)
			}
		}
	}
	for _, image := range images {
		if !digest.MatchString(image) {
			t.Errorf("%s is whatever its tag means on that day", image)
		}
	}
}

// docker-compose.yml passes on all of .env: HISTORY_IMPORT, say, counts only before the pairing.
// What the image needs to be reached does not depend on that file.
func TestDeploy_ComposePassesOnEveryVariable(t *testing.T) {
	var compose struct {
		Services map[string]struct {
			EnvFile []struct {
				Path     string `json:"path"`
				Required bool   `json:"required"`
			} `json:"env_file"`
			Environment map[string]string
		}
	}
	readYAML(t, "../docker-compose.yml", &compose)
	service := compose.Services["bridged"]
	if len(service.EnvFile) != 1 || service.EnvFile[0].Path != ".env" || service.EnvFile[0].Required {
		t.Errorf("env_file is %+v, want .env if there is one", service.EnvFile)
	}
	for _, name := range []string{"LISTEN_ADDR", "DATA_DIR"} {
		if got, want := service.Environment[name], dockerfile(t, `(?m)^ENV .*`+name+`=(\S+)`); got != want {
			t.Errorf("%s is %q, and %q in the image", name, got, want)
		}
	}
}

// The servers of the compose file make one cluster, and its bridges join it as two
// accounts.
func TestDeploy_ComposeFits(t *testing.T) {
	var compose composeFile
	readYAML(t, "compose.fleet.yml", &compose)
	var addresses string
	numbers, servers := map[string]bool{}, []string{}
	for _, name := range slices.Sorted(maps.Keys(compose.Services)) {
		service := compose.Services[name]
		if !strings.HasPrefix(name, "nats-") {
			if service.Build != ".." || service.Command[0] != "demo" || len(service.DependsOn) != 3 || !strings.HasSuffix(service.Ports[0], ":8080") {
				t.Errorf("%s: %+v", name, service)
			}
			numbers[service.Environment["DEMO_NUMBER"]] = true
			addresses = service.Environment["NATS_URL"]
			var environ []string
			for name, value := range service.Environment {
				environ = append(environ, name+"="+value)
			}
			checkEnviron(t, environ, "DEMO_NUMBER")
			for _, server := range servers {
				if !strings.Contains(addresses, "@"+server+":4222") {
					t.Errorf("%s does not know %s", name, server)
				}
			}
			continue
		}
		servers = append(servers, name)
	}
	if len(servers) != 3 || len(numbers) != 2 {
		t.Errorf("%v, %v", servers, numbers)
	}
	for _, name := range servers {
		service := compose.Services[name]
		o, err := server.ConfigureOptions(flag.NewFlagSet(name, flag.ContinueOnError), service.Command, nil, nil, nil)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if o.ServerName != name || !o.JetStream || o.StoreDir != "/data" || o.HTTPPort != 8222 || o.Cluster.Name != "fleet" || len(o.Routes) != len(servers) {
			t.Errorf("%s: %+v", name, o)
		}
		checkCredentials(t, o, addresses)
		if _, isThere := compose.Volumes[name]; !isThere || service.Volumes[0] != name+":"+o.StoreDir {
			t.Errorf("%s keeps its files in %v", name, service.Volumes)
		}
	}
}
