package config

import (
	"slices"
	"strings"
	"testing"
)

func TestCompat_IsReadFromTheEnvironment(t *testing.T) {
	c, err := Read([]string{"BRIDGE_TOKEN=0123456789abcdef", "COMPAT= WAHA , evolution,waha,Cloud", "COMPAT_LISTEN=evolution=127.0.0.1:8081", "COMPAT_URL_TOKEN=yes"})
	if err != nil || !c.CompatURLToken || !slices.Equal(c.Adapters, []string{"waha", "evolution", "cloud"}) || !slices.Equal(c.AdapterListeners, []AdapterListener{{"evolution", "127.0.0.1:8081"}}) {
		t.Errorf("%v, %v, %v", c.Adapters, c.AdapterListeners, err)
	}
	if _, err = Read([]string{"BRIDGE_TOKEN=0123456789abcdef", "COMPAT_INSTANCE=" + strings.Repeat("ä", 64)}); err != nil {
		t.Error(err)
	}
	for setting, want := range map[string]string{
		"COMPAT=gowa": "COMPAT must list compatibility APIs", "COMPAT_LISTEN=evolution": "COMPAT_LISTEN must list compatibility APIs", "COMPAT_LISTEN=gowa=:8081": "COMPAT_LISTEN must list compatibility APIs",
		"COMPAT_LISTEN=waha=8081": "COMPAT_LISTEN must list compatibility APIs", "COMPAT_INSTANCE=a/b": "COMPAT_INSTANCE must have", "COMPAT_INSTANCE=..": "COMPAT_INSTANCE must have",
		"COMPAT_INSTANCE=" + strings.Repeat("ä", 65): "COMPAT_INSTANCE must have 1 to 64",
	} {
		if _, err := Read([]string{"BRIDGE_TOKEN=0123456789abcdef", setting}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", setting, err, want)
		}
	}
}
