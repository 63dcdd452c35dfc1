package config

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestDescribe_HasAllVariables(t *testing.T) {
	var names []string
	for _, d := range Describe() {
		names = append(names, d.Name)
		if d.About == "" || strings.Contains(d.About, "\t") || strings.HasSuffix(d.About, ".") {
			t.Errorf("%s: %q", d.Name, d.About)
		}
	}
	if !slices.Equal(names, Variables()) {
		t.Errorf("it describes %q", names)
	}
}

// explained returns what Explain says about variables.
func explained(t *testing.T, file string, environ ...string) (Explanation, map[string]Explained) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "variables")
	if err := os.WriteFile(path, []byte(file), 0o600); err != nil {
		t.Fatal(err)
	}
	environ, read, err := WithEnvFile(environ, path)
	if err != nil {
		t.Fatal(err)
	}
	read.Name = "FILE"
	e, byName := Explain(environ, read), map[string]Explained{}
	for _, v := range e.Variables {
		byName[v.Name] = v
	}
	return e, byName
}

func TestExplain_SaysWhereValuesAreFrom(t *testing.T) {
	token := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(token, []byte("the-token-is-a-secret-0123456789\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	e, got := explained(t, "BRIDGE_TOKEN_FILE="+token+"\nLOG_LEVEL=debug\nMEDIA_MAX_BYTES=50MiB\nPHONE_NUMBER='+1 555 123 4567'\nDEVICE_NAME=file\nCOMPOSE_FILE=x\nBRIDGE_URL=http://127.0.0.1:1\nENABLE_SENDING=true\n",
		"LOG_LEVEL=warn", "DEVICE_NAME=", "RETENTION_DAYS=30d", "PROXY_URL=http://me:hush@proxy.example.com:3128/x", "WEBHOOK_SECRET=whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
	if len(e.Faults) > 0 || len(e.Remarks) > 0 {
		t.Errorf("faults %q, remarks %q", e.Faults, e.Remarks)
	}
	for name, want := range map[string]Explained{
		"BRIDGE_TOKEN":      {Value: "set", Secret: true, IsSet: true, From: "FILE", File: "BRIDGE_TOKEN_FILE"},
		"BRIDGE_TOKEN_FILE": {Value: token, IsSet: true, From: "FILE"},
		"LOG_LEVEL":         {Value: "warn", IsSet: true, From: FromEnvironment, Override: "FILE"},
		"DEVICE_NAME":       {Value: "bridged", From: FromDefault, Override: "FILE"},
		"MEDIA_MAX_BYTES":   {Value: "50MiB", IsSet: true, From: "FILE"},
		"PHONE_NUMBER":      {Value: "15551234567", IsSet: true, From: "FILE"},
		"RETENTION_DAYS":    {Value: "30", IsSet: true, From: FromEnvironment},
		"EVENTS_MAX_AGE":    {Value: "30d", From: FromDefault},
		"PROXY_URL":         {Value: "http://proxy.example.com:3128/…", IsSet: true, From: FromEnvironment},
		"WEBHOOK_SECRET":    {Value: "set", Secret: true, IsSet: true, From: FromEnvironment},
		"TRANSCRIBE_KEY":    {Secret: true, From: FromDefault},
		"COMPAT_URL_TOKEN":  {Value: "false", From: FromDefault},
	} {
		want.Described = got[name].Described
		if got[name] != want {
			t.Errorf("%s is %+v, want %+v", name, got[name], want)
		}
	}
	want := []Remark{{"ENABLE_SENDING", "is set, but not a variable of bridged: did you mean ENABLE_SEND?"}, {"COMPOSE_FILE", "is set in FILE, but not a variable of bridged"}}
	if !slices.Equal(e.Unknown, want) {
		t.Errorf("unknown: %q", e.Unknown)
	}
}

func TestExplain_ShowsFaultsWithTheirValues(t *testing.T) {
	e, got := explained(t, "ENABLE_SEND=maybe\n", "BRIDGE_TOKEN=hush", "BRIDGE_TOKEN_FILE=/no/such/file", "WEBHOOK_URL=hush.example.com", "PUBLIC_URL=https://me:hush@x.example", "MEDIA_MAX_BYTES=many", "NATS_CA_FILE=/no/such/file", "TZ=Nowhere/Land")
	for name, want := range map[string][2]string{
		"ENABLE_SEND":     {"maybe", "must be true or false"},
		"BRIDGE_TOKEN":    {"set", "are both set: unset one of them"},
		"WEBHOOK_URL":     {"set", "must be"},
		"WEBHOOK_SECRET":  {"", "signs the posts"},
		"PUBLIC_URL":      {"https://x.example", "must be"},
		"MEDIA_MAX_BYTES": {"many", "a number of bytes"},
		"NATS_CA_FILE":    {"/no/such/file", "cannot be read"},
	} {
		if v := got[name]; v.Value != want[0] || !strings.Contains(v.Fault, want[1]) || strings.HasPrefix(v.Fault, name) {
			t.Errorf("%s is %q: %s", name, v.Value, v.Fault)
		}
	}
	if len(e.Faults) != 7 || len(e.Remarks) != 1 || e.Remarks[0].Name != "TZ" {
		t.Errorf("%q, %q", e.Faults, e.Remarks)
	}
	for _, v := range e.Variables {
		if strings.Contains(v.Value, "hush") {
			t.Errorf("%s shows %q", v.Name, v.Value)
		}
	}
}
