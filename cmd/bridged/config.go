package main

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
	"bridged/internal/webhook"
)

// config holds the environment, checked.
type config struct {
	Token           string               `env:"BRIDGE_TOKEN"`
	TokenFile       string               `env:"BRIDGE_TOKEN_FILE"`
	EnableSend      bool                 `env:"ENABLE_SEND" envDefault:"false"`
	PhoneNumber     string               `env:"PHONE_NUMBER"`
	ListenAddr      string               `env:"LISTEN_ADDR" envDefault:"127.0.0.1:8080"`
	MaxConnections  int                  `env:"MAX_CONNECTIONS"`
	DataDir         string               `env:"DATA_DIR" envDefault:"./data"`
	DeviceName      string               `env:"DEVICE_NAME" envDefault:"bridged"`
	MediaMaxBytes   byteSize             `env:"MEDIA_MAX_BYTES" envDefault:"100MiB"`
	MediaCacheBytes byteSize             `env:"MEDIA_CACHE_BYTES" envDefault:"1GiB"`
	FetchTimeout    time.Duration        `env:"FETCH_TIMEOUT" envDefault:"60s"`
	RetentionDays   days                 `env:"RETENTION_DAYS" envDefault:"0"`
	NewChatsPerDay  int                  `env:"NEW_CHATS_PER_DAY" envDefault:"0"`
	NewChatsMinGap  time.Duration        `env:"NEW_CHATS_MIN_GAP" envDefault:"0"`
	HistoryImport   bridge.HistoryImport `env:"HISTORY_IMPORT" envDefault:"off"`
	LogLevel        string               `env:"LOG_LEVEL" envDefault:"info"`
	LogFormat       string               `env:"LOG_FORMAT"`
	NetworkFile     string               `env:"WA_NETWORK_FILE"`
	ProxyURL        string               `env:"PROXY_URL"`
	Console         bool                 `env:"CONSOLE" envDefault:"true"`
	PublicURL       string               `env:"PUBLIC_URL"`

	// The door for agents.
	MCP               string `env:"MCP" envDefault:"off"`
	MCPSendChats      string `env:"MCP_SEND_CHATS"`
	MCPConfirm        bool   `env:"MCP_CONFIRM" envDefault:"false"`
	MCPSendsPerMinute int    `env:"MCP_SENDS_PER_MINUTE" envDefault:"10"`

	// The log of events, and where it is posted to.
	EventsMaxAge      time.Duration `env:"EVENTS_MAX_AGE" envDefault:"30d"`
	EventsMaxCount    int           `env:"EVENTS_MAX_COUNT" envDefault:"1000000"`
	WebhookURL        string        `env:"WEBHOOK_URL"`
	WebhookSecret     string        `env:"WEBHOOK_SECRET"`
	WebhookSecretFile string        `env:"WEBHOOK_SECRET_FILE"`
	WebhookEvents     string        `env:"WEBHOOK_EVENTS"`
	WebhookChats      string        `env:"WEBHOOK_CHATS"`
	WebhookExclude    string        `env:"WEBHOOK_EXCLUDE_CHATS"`
	WebhookChatType   string        `env:"WEBHOOK_CHAT_TYPE" envDefault:"all"`
	WebhookFromMe     string        `env:"WEBHOOK_FROM_ME" envDefault:"any"`
	WebhookPrivate    string        `env:"WEBHOOK_ALLOW_PRIVATE"`

	// The fleet on NATS, off without NATSURL.
	NATSURL             string        `env:"NATS_URL"`
	NATSCredsFile       string        `env:"NATS_CREDS_FILE"`
	NATSCAFile          string        `env:"NATS_CA_FILE"`
	NATSPrefix          string        `env:"NATS_PREFIX" envDefault:"bridged"`
	NATSReplicas        int           `env:"NATS_REPLICAS" envDefault:"1"`
	NATSEventsMaxAge    time.Duration `env:"NATS_EVENTS_MAX_AGE" envDefault:"30d"`
	NATSEventsMaxBytes  byteSize      `env:"NATS_EVENTS_MAX_BYTES" envDefault:"0"`
	NATSOwnerTTL        time.Duration `env:"NATS_OWNER_TTL" envDefault:"60s"`
	NATSDuplicateWindow time.Duration `env:"NATS_DUPLICATE_WINDOW" envDefault:"2m"`

	// SimulatedFetchAllow makes exceptions of send-media's guard, where
	// NetworkFile says that nothing is real.
	SimulatedFetchAllow string `env:"SIMULATED_FETCH_ALLOW"`

	network    wa.Network
	fetchAllow []netip.Prefix
	webhooks   []webhook.Configured
	hookAllow  []netip.Prefix
	level      zerolog.Level
	publicURLs []*url.URL
	sendChats  []bridge.JID // nil for none
	misspelt   []misspelling
}

// minTokenLength bounds bearer tokens from below.
const minTokenLength = 16

// configFaults lists all the faults of a configuration, each with its remedy.
type configFaults []string

func (f configFaults) Error() string { return strings.Join(f, "; ") }

// add notes a fault. Of a variable the first one counts: what could not be
// read is not out of range as well.
func (f *configFaults) add(format string, args ...any) {
	fault := fmt.Sprintf(format, args...)
	variable, _, _ := strings.Cut(fault, " ")
	told := func(earlier string) bool { return strings.HasPrefix(earlier, variable+" ") }
	if !slices.ContainsFunc(*f, told) {
		*f = append(*f, fault)
	}
}

// readConfig reads and checks the whole environment, and reports every fault
// at once.
func readConfig(environ []string) (config, error) {
	c, faults := parseConfig(environ)
	c.check(&faults)
	c.misspelt = misspellings(environ)
	if len(faults) == 0 {
		return c, nil
	}
	for _, m := range c.misspelt {
		faults.add("%v", m)
	}
	return config{}, faults
}

// readPart reads what one command needs of the environment, and checks only
// that.
func readPart(environ []string, checks ...func(*config, *configFaults)) (config, error) {
	c, _ := parseConfig(environ)
	var faults configFaults
	for _, check := range checks {
		check(&c, &faults)
	}
	if len(faults) > 0 {
		return config{}, faults
	}
	return c, nil
}

// parseConfig reads the environment and fills in the defaults.
func parseConfig(environ []string) (c config, faults configFaults) {
	err := env.ParseWithOptions(&c, env.Options{Environment: env.ToMap(environ), FuncMap: valueParsers()})
	faults.addParseErrors(err)
	return c, faults
}

// addParseErrors names the variables whose values cannot be read.
func (f *configFaults) addParseErrors(err error) {
	var all env.AggregateError
	if err == nil {
		return
	}
	if !errors.As(err, &all) {
		f.add("%v", err)
		return
	}
	for _, fault := range all.Errors {
		var parse env.ParseError
		if !errors.As(fault, &parse) {
			f.add("%v", fault)
			continue
		}
		f.add("%s is not understood: it must be %v", variableOf(parse.Name), parse.Err)
	}
}

// variableOf returns the environment variable of a field of config.
func variableOf(field string) string {
	f, _ := reflect.TypeFor[config]().FieldByName(field)
	return f.Tag.Get("env")
}
