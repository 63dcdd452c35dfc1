package main

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"os"
	"reflect"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/caarlos0/env/v11"
	"github.com/rs/zerolog"

	"bridged/internal/wa"
	"bridged/internal/webhook"
)

// config is the environment, checked.
type config struct {
	Token           string        `env:"BRIDGE_TOKEN"`
	TokenFile       string        `env:"BRIDGE_TOKEN_FILE"`
	EnableSend      bool          `env:"ENABLE_SEND" envDefault:"false"`
	PhoneNumber     string        `env:"PHONE_NUMBER"`
	ListenAddr      string        `env:"LISTEN_ADDR" envDefault:"127.0.0.1:8080"`
	DataDir         string        `env:"DATA_DIR" envDefault:"./data"`
	DeviceName      string        `env:"DEVICE_NAME" envDefault:"bridged"`
	MediaMaxBytes   int64         `env:"MEDIA_MAX_BYTES" envDefault:"104857600"`
	MediaCacheBytes int64         `env:"MEDIA_CACHE_BYTES" envDefault:"1073741824"`
	FetchTimeout    time.Duration `env:"FETCH_TIMEOUT" envDefault:"60s"`
	RetentionDays   int           `env:"RETENTION_DAYS" envDefault:"0"`
	LogLevel        string        `env:"LOG_LEVEL" envDefault:"info"`
	LogFormat       string        `env:"LOG_FORMAT"`
	NetworkFile     string        `env:"WA_NETWORK_FILE"`
	ProxyURL        string        `env:"PROXY_URL"`
	Console         bool          `env:"CONSOLE" envDefault:"true"`

	// The log of events, and where it is posted to.
	EventsMaxAge      time.Duration `env:"EVENTS_MAX_AGE" envDefault:"720h"`
	EventsMaxCount    int           `env:"EVENTS_MAX_COUNT" envDefault:"1000000"`
	WebhookURL        string        `env:"WEBHOOK_URL"`
	WebhookSecret     string        `env:"WEBHOOK_SECRET"`
	WebhookSecretFile string        `env:"WEBHOOK_SECRET_FILE"`
	WebhookEvents     string        `env:"WEBHOOK_EVENTS"`

	// SimulatedFetchAllow makes exceptions of send-media's guard, where
	// NetworkFile says that nothing is real.
	SimulatedFetchAllow string `env:"SIMULATED_FETCH_ALLOW"`

	network    wa.Network
	fetchAllow []netip.Prefix
	webhooks   []webhook.Endpoint
	level      zerolog.Level
}

// minTokenLength is how long a bearer token must be at least.
const minTokenLength = 16

// configFaults are all the faults of a configuration, each with its remedy.
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
	var c config
	var faults configFaults
	err := env.ParseWithOptions(&c, env.Options{Environment: env.ToMap(environ)})
	faults.addParseErrors(err)
	c.check(&faults)
	if len(faults) > 0 {
		return config{}, faults
	}
	return c, nil
}

// addParseErrors says which variable does not have its type.
func (f *configFaults) addParseErrors(err error) {
	var all env.AggregateError
	if err == nil {
		return
	}
	if !errors.As(err, &all) {
		f.add("%v", err)
		return
	}
	hints := map[string]string{"bool": "true or false", "int64": "a number of bytes", "int": "a number", "time.Duration": "a duration such as 60s or 2m"}
	for _, fault := range all.Errors {
		var parse env.ParseError
		if !errors.As(fault, &parse) {
			f.add("%v", fault)
			continue
		}
		f.add("%s is not understood: it must be %s", variableOf(parse.Name), hints[parse.Type.String()])
	}
}

// variableOf is the environment variable of a field of config.
func variableOf(field string) string {
	f, _ := reflect.TypeFor[config]().FieldByName(field)
	return f.Tag.Get("env")
}

func (c *config) check(faults *configFaults) {
	c.checkToken(faults)
	if c.PhoneNumber != "" && (strings.Trim(c.PhoneNumber, "0123456789") != "" || len(c.PhoneNumber) < 7 || len(c.PhoneNumber) > 15 || c.PhoneNumber[0] == '0') {
		faults.add("PHONE_NUMBER must be E.164 digits with the country code and nothing else, such as 15551234567")
	}
	if _, port, err := net.SplitHostPort(c.ListenAddr); err != nil || port == "" {
		faults.add("LISTEN_ADDR must be host:port, such as 127.0.0.1:8080")
	}
	if c.DataDir == "" {
		faults.add("DATA_DIR must name a directory")
	}
	if c.DeviceName == "" || utf8.RuneCountInString(c.DeviceName) > 50 {
		faults.add("DEVICE_NAME must have 1 to 50 characters: the phone shows it under linked devices")
	}
	if c.MediaMaxBytes <= 0 {
		faults.add("MEDIA_MAX_BYTES must be greater than 0")
	}
	if c.MediaCacheBytes < 0 {
		faults.add("MEDIA_CACHE_BYTES must not be negative; 0 switches the cache off")
	}
	if c.RetentionDays < 0 {
		faults.add("RETENTION_DAYS must not be negative; 0 keeps messages for ever")
	}
	if c.FetchTimeout <= 0 {
		faults.add("FETCH_TIMEOUT must be longer than 0, such as 60s")
	}
	c.checkLog(faults)
	c.checkNetwork(faults)
	c.checkFetchAllow(faults)
	c.checkEvents(faults)
}

func (c *config) checkToken(faults *configFaults) {
	if c.TokenFile != "" {
		if c.Token != "" {
			faults.add("set BRIDGE_TOKEN or BRIDGE_TOKEN_FILE, not both")
			return
		}
		data, err := os.ReadFile(c.TokenFile)
		if err != nil {
			faults.add("BRIDGE_TOKEN_FILE cannot be read: %v", err)
			return
		}
		c.Token = strings.TrimSpace(string(data))
	}
	switch {
	case c.Token == "":
		faults.add("BRIDGE_TOKEN is not set: choose a secret of at least %d characters, for example with: openssl rand -hex 24", minTokenLength)
	case len(c.Token) < minTokenLength:
		faults.add("BRIDGE_TOKEN is too short: it must have at least %d characters, for example from: openssl rand -hex 24", minTokenLength)
	case strings.ContainsFunc(c.Token, func(r rune) bool { return r <= ' ' || r > '~' }):
		faults.add("BRIDGE_TOKEN must be visible ASCII characters without spaces: it travels in a header")
	}
}

func (c *config) checkLog(faults *configFaults) {
	level, err := zerolog.ParseLevel(strings.ToLower(c.LogLevel))
	if err != nil || level == zerolog.NoLevel {
		faults.add("LOG_LEVEL must be trace, debug, info, warn or error")
	}
	c.level = level
	if c.LogFormat != "" && c.LogFormat != "json" && c.LogFormat != "console" {
		faults.add("LOG_FORMAT must be json or console")
	}
}

func (c *config) checkNetwork(faults *configFaults) {
	if c.NetworkFile != "" {
		network, err := wa.ReadNetworkFile(c.NetworkFile)
		if err != nil {
			faults.add("WA_NETWORK_FILE cannot be used: %v", err)
		}
		c.network = network
	}
	if c.ProxyURL == "" {
		return
	}
	proxy, err := url.Parse(c.ProxyURL)
	if err != nil || proxy.Host == "" || (proxy.Scheme != "http" && proxy.Scheme != "https" && proxy.Scheme != "socks5") {
		faults.add("PROXY_URL must be an http://, https:// or socks5:// address")
		return
	}
	c.network.Proxy = proxy
}
