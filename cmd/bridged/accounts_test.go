package main

import (
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"bridged/internal/config"
)

// The accounts of the compose file are those of its list and of the Caddyfile, each with a token, a
// directory and a path of its own; and each bridge starts with what the file sets.
func TestDeploy_AccountsFit(t *testing.T) {
	var compose composeFile

	readYAML(t, "accounts/compose.yml", &compose)
	caddyfile, err := os.ReadFile(deployed + "/accounts/Caddyfile")
	if err != nil {
		t.Fatal(err)
	}
	proxied := regexp.MustCompile(`@\w+ path (/a/\w+)/\* .+\s+handle @\w+ \{\s+reverse_proxy \{\$(\w+):`).FindAllStringSubmatch(string(caddyfile), -1)
	upstreams := make(map[string]string) // by path
	for _, found := range proxied {
		upstreams[found[1]] = compose.Services["caddy"].Environment[found[2]]
	}
	public := regexp.MustCompile(`\$\{HOME_NAME:\?[^}]+\}`)
	var listed int
	for _, name := range slices.Sorted(maps.Keys(compose.Services)) {
		service := compose.Services[name]
		if name == "caddy" {
			continue
		}
		environ := []string{"BRIDGE_TOKEN=" + testToken}
		for variable, value := range service.Environment {
			if !slices.Contains(config.Variables(), variable) {
				t.Errorf("%s is no variable of bridged", variable)
			}
			environ = append(environ, variable+"="+public.ReplaceAllString(value, "home.example.com"))
		}
		c, err := config.Read(environ)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		listed = len(c.AccountList)
		own := slices.IndexFunc(c.AccountList, func(a config.Account) bool { return a.IsOwn })
		if got := c.AccountList[own]; !strings.EqualFold(got.Name, name) || upstreams[got.Address] != name+":8080" {
			t.Errorf("%s is listed as %+v, and Caddy leads to %q", name, got, upstreams[got.Address])
		}
		if fmt.Sprint(service.EnvFile) != "["+name+".env]" || !slices.Equal(service.Volumes, []string{name + ":" + c.DataDir}) || len(service.Ports) > 0 || service.Build != "../.." {
			t.Errorf("%s: %+v", name, service)
		}
		if _, isThere := compose.Volumes[name]; !isThere {
			t.Errorf("%s has no volume", name)
		}
	}
	if listed != 3 || len(upstreams) != listed || len(compose.Services) != listed+1 {
		t.Errorf("%d accounts are listed, %d services, %v", listed, len(compose.Services), upstreams)
	}
}
