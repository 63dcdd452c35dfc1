package main

import (
	"errors"
	"fmt"
	"net/netip"
	"reflect"
	"slices"
	"strings"
	"time"

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
	MaxConnections  int           `env:"MAX_CONNECTIONS"`
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
	WebhookPrivate    string        `env:"WEBHOOK_ALLOW_PRIVATE"`

	// SimulatedFetchAllow makes exceptions of send-media's guard, where
	// NetworkFile says that nothing is real.
	SimulatedFetchAllow string `env:"SIMULATED_FETCH_ALLOW"`

	network    wa.Network
	fetchAllow []netip.Prefix
	webhooks   []webhook.Configured
	hookAllow  []netip.Prefix
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
	c, faults := parseConfig(environ)
	c.check(&faults)
	if len(faults) > 0 {
		return config{}, faults
	}
	return c, nil
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
	err := env.ParseWithOptions(&c, env.Options{Environment: env.ToMap(environ)})
	faults.addParseErrors(err)
	return c, faults
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
