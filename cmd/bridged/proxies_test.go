package main

import (
	"bytes"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/oasdiff/yaml"

	"bridged/internal/api"
	"bridged/internal/config"
)

// traefikStart and traefikRoutes are what Traefik documents of its start and of its routes, as
// far as the examples use it.
type (
	traefikStart struct {
		EntryPoints map[string]struct {
			Address string
			HTTP    *struct {
				Redirections struct {
					EntryPoint struct{ To, Scheme string }
				}
			}
			Transport *struct {
				RespondingTimeouts struct{ ReadTimeout, WriteTimeout, IdleTimeout string }
			}
		}
		CertificatesResolvers map[string]struct {
			ACME struct {
				Email, Storage string
				TLSChallenge   *struct{}
			}
		}
		Providers struct{ File struct{ Filename string } }
	}
	traefikRoutes struct {
		HTTP struct {
			Routers map[string]struct {
				Rule, Service string
				EntryPoints   []string
				TLS           struct{ CertResolver string }
			}
			Services map[string]struct {
				LoadBalancer struct {
					PassHostHeader bool
					Servers        []struct{ URL string }
				}
			}
		}
	}
)

// readStrictly reads a file whose fields are all known.
func readStrictly(t *testing.T, path string, into any) {
	t.Helper()
	data, err := os.ReadFile(deployed + "/" + path)
	if err != nil {
		t.Fatal(err)
	}
	if data, err = yaml.YAMLToJSON(data); err != nil {
		t.Fatal(err)
	}
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(into); err != nil {
		t.Errorf("%s: %v", path, err)
	}
}

// The files for Traefik fit together, and lead to where a bridge listens; so does that for
// Caddy, which make proxies runs.
func TestDeploy_ProxiesFit(t *testing.T) {
	var start traefikStart
	var routes traefikRoutes
	readStrictly(t, "traefik/traefik.yml", &start)
	readStrictly(t, "traefik/bridged.yml", &routes)
	c, err := config.Part(nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(routes.HTTP.Routers) != 2 || !strings.HasSuffix(start.Providers.File.Filename, "/bridged.yml") {
		t.Errorf("%d routers, of %s", len(routes.HTTP.Routers), start.Providers.File.Filename)
	}
	for name, router := range routes.HTTP.Routers {
		to := routes.HTTP.Services[router.Service].LoadBalancer
		if len(to.Servers) != 1 || to.Servers[0].URL != "http://"+c.ListenAddr || !to.PassHostHeader {
			t.Errorf("%s leads to %v", name, to)
		}
		if _, known := start.CertificatesResolvers[router.TLS.CertResolver]; !known {
			t.Errorf("%s has its certificate from %q", name, router.TLS.CertResolver)
		}
		for _, entry := range router.EntryPoints {
			if at, known := start.EntryPoints[entry]; !known || at.Transport == nil || at.Transport.RespondingTimeouts.ReadTimeout != "0s" {
				t.Errorf("%s comes in at %s", name, entry)
			}
		}
	}
	caddyfile, err := os.ReadFile(deployed + "/caddy/Caddyfile")
	if err != nil || strings.Count(string(caddyfile), "{$BRIDGE_ADDRESS:"+c.ListenAddr+"}") != 2 {
		t.Errorf("the Caddyfile leads elsewhere: %v", err)
	}
}

// No BASE_PATH begins like a path of the program.
func TestBasePath_IsNoPathOfItsOwn(t *testing.T) {
	var document struct{ Paths map[string]any }
	if _, err := yaml.Unmarshal(api.Document, &document, yaml.DecodeOpts{}); err != nil || len(document.Paths) == 0 {
		t.Fatalf("%d paths, %v", len(document.Paths), err)
	}
	own := []string{"console", "login", "mcp"}
	for path := range document.Paths {
		first, _, _ := strings.Cut(path[1:], "/")
		if strings.HasPrefix(path, "/api/hassio_ingress") {
			t.Errorf("%s is where Home Assistant shows add-ons", path)
		}
		if !slices.Contains(own, first) && !strings.Contains(first, ".") { // no base path has a dot
			own = append(own, first)
		}
	}
	for _, adapter := range adapters {
		own = append(own, adapter.prefix[1:])
	}
	for _, first := range own {
		if _, err := config.Read([]string{"BRIDGE_TOKEN=" + testToken, "BASE_PATH=/" + first + "/x"}); err == nil || !strings.Contains(err.Error(), "BASE_PATH must not begin with /"+first) {
			t.Errorf("/%s: %v", first, err)
		}
	}
}
