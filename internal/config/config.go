// Package config reads the configuration from environment variables; there is no other. It lists
// every variable once, with its default and its check. It reports all faults at once, each with
// its remedy, and points out misspelt variables.
//
// A private file may contain variables. The environment overrides it ([WithEnvFile]).
//
// [Read] is for the bridge itself, [Examine] for its doctor, and [Part] for a command that needs
// only a few variables.
package config

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/caarlos0/env/v11"
	"github.com/rs/zerolog"

	"bridged/internal/bridge"
	"bridged/internal/wa"
)

// Config is the checked configuration.
type Config struct {
	Token           string               `env:"BRIDGE_TOKEN"`
	TokenFile       string               `env:"BRIDGE_TOKEN_FILE"`
	EnableSend      bool                 `env:"ENABLE_SEND" envDefault:"false"`
	PhoneNumber     string               `env:"PHONE_NUMBER"`
	ListenAddr      string               `env:"LISTEN_ADDR" envDefault:"127.0.0.1:8080"`
	MaxConnections  int                  `env:"MAX_CONNECTIONS"`
	DataDir         string               `env:"DATA_DIR" envDefault:"./data"`
	DeviceName      string               `env:"DEVICE_NAME" envDefault:"bridged"`
	MediaMaxBytes   Size                 `env:"MEDIA_MAX_BYTES" envDefault:"100MiB"`
	MediaCacheBytes Size                 `env:"MEDIA_CACHE_BYTES" envDefault:"1GiB"`
	ImportMaxBytes  Size                 `env:"IMPORT_MAX_BYTES" envDefault:"2GiB"`
	ImportQuota     Size                 `env:"IMPORT_QUOTA" envDefault:"256MiB"`
	FetchTimeout    time.Duration        `env:"FETCH_TIMEOUT" envDefault:"60s"`
	FFmpeg          string               `env:"FFMPEG"`
	LinkPreviews    bool                 `env:"LINK_PREVIEWS" envDefault:"false"`
	RetentionDays   Days                 `env:"RETENTION_DAYS" envDefault:"0"`
	NewChatsPerDay  int                  `env:"NEW_CHATS_PER_DAY" envDefault:"0"`
	NewChatsMinGap  time.Duration        `env:"NEW_CHATS_MIN_GAP" envDefault:"0"`
	HistoryImport   bridge.HistoryImport `env:"HISTORY_IMPORT" envDefault:"off"`
	ShowTyping      bool                 `env:"SHOW_TYPING" envDefault:"false"`
	LogLevel        string               `env:"LOG_LEVEL" envDefault:"info"`
	LogFormat       string               `env:"LOG_FORMAT"`
	ClientVersion   string               `env:"CLIENT_VERSION"`
	NetworkFile     string               `env:"WA_NETWORK_FILE"`
	ProxyURL        string               `env:"PROXY_URL"`
	Console         bool                 `env:"CONSOLE" envDefault:"true"`
	PublicURL       string               `env:"PUBLIC_URL"`
	BasePath        string               `env:"BASE_PATH"`

	// These are for the service that transcribes voice notes. Without TranscribeURL there is
	// none.
	TranscribeURL       string `env:"TRANSCRIBE_URL"`
	Transcribe          string `env:"TRANSCRIBE" envDefault:"off"`
	TranscribeKey       string `env:"TRANSCRIBE_KEY"`
	TranscribeKeyFile   string `env:"TRANSCRIBE_KEY_FILE"`
	TranscribeModel     string `env:"TRANSCRIBE_MODEL"`
	TranscribeLanguages string `env:"TRANSCRIBE_LANGUAGES"`
	TranscribeMinutes   int    `env:"TRANSCRIBE_MINUTES" envDefault:"0"`

	// These are the permissions of agents.
	MCP               string `env:"MCP" envDefault:"off"`
	MCPSendChats      string `env:"MCP_SEND_CHATS"`
	MCPConfirm        bool   `env:"MCP_CONFIRM" envDefault:"false"`
	MCPSendsPerMinute int    `env:"MCP_SENDS_PER_MINUTE" envDefault:"10"`

	// These are for the compatibility APIs.
	Compat         string `env:"COMPAT"`
	CompatListen   string `env:"COMPAT_LISTEN"`
	CompatInstance string `env:"COMPAT_INSTANCE" envDefault:"bridged"`
	CompatURLToken bool   `env:"COMPAT_URL_TOKEN" envDefault:"false"`

	// These are for the event log and its webhooks.
	EventsMaxAge      time.Duration `env:"EVENTS_MAX_AGE" envDefault:"30d"`
	EventsMaxCount    int           `env:"EVENTS_MAX_COUNT" envDefault:"1000000"`
	WebhookURL        string        `env:"WEBHOOK_URL"`
	WebhookSecret     string        `env:"WEBHOOK_SECRET"`
	WebhookSecretFile string        `env:"WEBHOOK_SECRET_FILE"`
	WebhookEvents     string        `env:"WEBHOOK_EVENTS"`
	WebhookPrivate    string        `env:"WEBHOOK_ALLOW_PRIVATE"`

	// These are for the fleet on NATS, which is off without NATSURL.
	NATSURL       string        `env:"NATS_URL"`
	NATSCredsFile string        `env:"NATS_CREDS_FILE"`
	NATSCAFile    string        `env:"NATS_CA_FILE"`
	NATSPrefix    string        `env:"NATS_PREFIX" envDefault:"bridged"`
	NATSReplicas  int           `env:"NATS_REPLICAS" envDefault:"1"`
	NATSOwnerTTL  time.Duration `env:"NATS_OWNER_TTL" envDefault:"60s"`

	// SimulatedFetchAllow makes exceptions to the guard of send-media. It is only permitted on a
	// simulated network (NetworkFile).
	SimulatedFetchAllow string `env:"SIMULATED_FETCH_ALLOW"`

	// The checks set the fields from here on.

	FFmpegPath    string // empty if there is none
	Network       wa.Network
	FetchAllow    []netip.Prefix
	Webhooks      []bridge.Webhook
	PrivateHooks  []netip.Prefix // permitted for webhooks that are created over the API
	Level         zerolog.Level
	PublicURLs    []*url.URL     // with BasePath
	SendChats     []bridge.JID   // that agents may send to; nil for none
	Doors         []string       // compatibility APIs that are served under their prefixes
	DoorListeners []DoorListener // compatibility APIs that are served at the root of an address
	Transcriber   *url.URL       // base URL of the service; nil for none
	Languages     []string       // of voice notes
	Misspelt      []string       // a sentence for each variable that looks misspelt or is no longer read
	Warnings      []string       // sentences about values that bridged starts with, with the remedy after a colon
}

// Faults lists all faults of a configuration, each with its remedy.
type Faults []string

// Error returns all faults on one line.
func (f Faults) Error() string { return strings.Join(f, "; ") }

// add adds a fault, which starts with the name of its variable. Only the first fault of a
// variable counts: a value that cannot be parsed is not reported as out of range, too.
func (f *Faults) add(format string, args ...any) {
	fault := fmt.Sprintf(format, args...)
	variable, _, _ := strings.Cut(fault, " ")
	isSame := func(earlier string) bool { return strings.HasPrefix(earlier, variable+" ") }
	if !slices.ContainsFunc(*f, isSame) {
		*f = append(*f, fault)
	}
}

// Read reads and checks the whole environment, and reports every fault at once.
func Read(environ []string) (Config, error) {
	c, faults := Examine(environ)
	if len(faults) == 0 {
		return c, nil
	}
	for _, m := range c.Misspelt {
		faults.add("%s", m)
	}
	return Config{}, faults
}

// Examine reads the environment as far as possible and returns its faults.
func Examine(environ []string) (Config, Faults) {
	c, faults := parse(environ)
	c.check(&faults)
	c.Misspelt = misspellings(environ)
	if warning := ZoneWarning(environ); warning != "" {
		c.Warnings = append(c.Warnings, warning)
	}
	return c, faults
}

// Part reads the variables that a command needs, with their checks.
func Part(environ []string, checks ...func(*Config, *Faults)) (Config, error) {
	c, _ := parse(environ)
	var faults Faults
	for _, check := range checks {
		check(&c, &faults)
	}
	if len(faults) > 0 {
		return Config{}, faults
	}
	return c, nil
}

func parse(environ []string) (c Config, faults Faults) {
	err := env.ParseWithOptions(&c, env.Options{Environment: env.ToMap(environ), FuncMap: valueParsers()})
	var all env.AggregateError
	if err != nil && !errors.As(err, &all) {
		faults.add("%v", err)
	}
	for _, fault := range all.Errors {
		var unread env.ParseError
		if !errors.As(fault, &unread) {
			faults.add("%v", fault)
			continue
		}
		field, _ := reflect.TypeFor[Config]().FieldByName(unread.Name)
		faults.add("%s is not understood: it must be %v", field.Tag.Get("env"), unread.Err)
	}
	return c, faults
}

// Variables returns the names of all variables that bridged reads.
func Variables() (names []string) {
	for field := range reflect.TypeFor[Config]().Fields() {
		if name := field.Tag.Get("env"); name != "" {
			names = append(names, name)
		}
	}
	return names
}
