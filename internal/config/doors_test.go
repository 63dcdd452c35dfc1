package config

import (
	"slices"
	"strings"
	"testing"
)

func TestDoors_AreReadFromTheEnvironment(t *testing.T) {
	c, err := Read([]string{"BRIDGE_TOKEN=0123456789abcdef", "COMPAT= WAHA , evolution,waha,Cloud", "COMPAT_LISTEN=evolution=127.0.0.1:8081", "COMPAT_URL_TOKEN=yes"})
	if err != nil || !c.CompatURLToken || !slices.Equal(c.Doors, []string{"waha", "evolution", "cloud"}) || !slices.Equal(c.DoorListeners, []DoorListener{{"evolution", "127.0.0.1:8081"}}) {
		t.Errorf("%v, %v, %v", c.Doors, c.DoorListeners, err)
	}
	for setting, want := range map[string]string{
		"COMPAT=gowa": "COMPAT must list doors", "COMPAT_LISTEN=evolution": "COMPAT_LISTEN must list doors", "COMPAT_LISTEN=gowa=:8081": "COMPAT_LISTEN must list doors",
		"COMPAT_LISTEN=waha=8081": "COMPAT_LISTEN must list doors", "COMPAT_INSTANCE=a/b": "COMPAT_INSTANCE must have", "COMPAT_INSTANCE=..": "COMPAT_INSTANCE must have",
	} {
		if _, err := Read([]string{"BRIDGE_TOKEN=0123456789abcdef", setting}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", setting, err, want)
		}
	}
}
