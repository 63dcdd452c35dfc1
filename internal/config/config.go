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
	// The bearer token, at least 16 visible ASCII characters; required.
	Token string `env:"BRIDGE_TOKEN"`
	// A file with the token instead, such as a Docker secret.
	TokenFile string `env:"BRIDGE_TOKEN_FILE"`
	// `true` allows sending; otherwise routes that send answer 403.
	EnableSend bool `env:"ENABLE_SEND" envDefault:"false"`
	// The account's number with its country code; no other account can pair.
	PhoneNumber string `env:"PHONE_NUMBER"`
	// `host:port`; the image listens on `0.0.0.0:8080`.
	ListenAddr string `env:"LISTEN_ADDR" envDefault:"127.0.0.1:8080"`
	// Open connections, by default 4096, or fewer if the process may open fewer files. A quarter
	// (at most 1,024) is for callers without a token; of the rest a token tree has at most half,
	// and all tokens except `BRIDGE_TOKEN` three quarters.
	MaxConnections int `env:"MAX_CONNECTIONS"`
	// The [data directory](operations.md#the-data-directory); `/data` in the image.
	DataDir string `env:"DATA_DIR" envDefault:"./data"`
	// The name in the phone's list of linked devices, set at pairing.
	DeviceName string `env:"DEVICE_NAME" envDefault:"bridged"`
	// The largest file that is sent or downloaded.
	MediaMaxBytes Size `env:"MEDIA_MAX_BYTES" envDefault:"100MiB"`
	// Downloaded files on disk, least recently used removed first; 0 turns the cache off.
	MediaCacheBytes Size `env:"MEDIA_CACHE_BYTES" envDefault:"1GiB"`
	// The largest [exported chat](operations.md#exported-chats), packed and unpacked.
	ImportMaxBytes Size `env:"IMPORT_MAX_BYTES" envDefault:"2GiB"`
	// How much the imports of a token tree may store; `BRIDGE_TOKEN` has no quota, and 0 means no
	// quota for all tokens.
	ImportQuota Size `env:"IMPORT_QUOTA" envDefault:"256MiB"`
	// The time for fetching a file to send.
	FetchTimeout time.Duration `env:"FETCH_TIMEOUT" envDefault:"60s"`
	// The path of ffmpeg, which [converts audio and video](operations.md#audio-and-video), or
	// `off`; by default the one in the search path.
	FFmpeg string `env:"FFMPEG"`
	// `true` fetches the page of a text's first link and sends its preview, unless the text says
	// `"linkPreview": false`.
	LinkPreviews bool `env:"LINK_PREVIEWS" envDefault:"false"`
	// Removes messages older than this (`30` or `30d`), hourly; 0 retains all. Chats stay.
	RetentionDays Days `env:"RETENTION_DAYS" envDefault:"0"`
	// A directory in which bridged makes a [backup](operations.md#backups) every night, of this bridge
	// alone.
	BackupDir string `env:"BACKUP_DIR"`
	// The time of day, in the zone of `TZ`.
	BackupAt TimeOfDay `env:"BACKUP_AT" envDefault:"03:30"`
	// How many backups are retained; 0 retains all.
	BackupKeep int `env:"BACKUP_KEEP" envDefault:"7"`
	// `true` also copies the files of imported chats.
	BackupWithFiles bool `env:"BACKUP_WITH_FILES" envDefault:"false"`
	// `true` also copies tokens, webhooks and hooks, with their secrets.
	BackupWithSecrets bool `env:"BACKUP_WITH_SECRETS" envDefault:"false"`
	// How many chats the account may begin in 24 hours; 0 is unlimited. Answers are not limited.
	NewChatsPerDay int `env:"NEW_CHATS_PER_DAY" envDefault:"0"`
	// How late a [scheduled message](api.md#send-later) may be sent, if the account was not connected at
	// its time; `1m` to `24h`. Later it is missed.
	ScheduleGrace time.Duration `env:"SCHEDULE_GRACE" envDefault:"1h"`
	// The time between two chats that the account begins, such as `90s`; at most 24h.
	NewChatsMinGap time.Duration `env:"NEW_CHATS_MIN_GAP" envDefault:"0"`
	// `recent`, `full` or a span such as `1y`, `6mo`, `90d`: imports messages from before the
	// pairing ([history](operations.md#history)).
	HistoryImport bridge.HistoryImport `env:"HISTORY_IMPORT" envDefault:"off"`
	// `true` shows in [streams of events](api.md#follow-events) who is typing. The account is then
	// available all the time, and the phone stays silent.
	ShowTyping bool `env:"SHOW_TYPING" envDefault:"false"`
	// `trace`, `debug`, `info`, `warn` or `error`.
	LogLevel string `env:"LOG_LEVEL" envDefault:"info"`
	// `json` or `console`; by default `console` on a terminal.
	LogFormat string `env:"LOG_FORMAT"`
	// The version of WhatsApp Web that bridged reports, such as `2.3000.1049878396`, if this
	// machine cannot look it up ([client versions](operations.md#client-versions)).
	ClientVersion string `env:"CLIENT_VERSION"`
	// Connects to a [simulated network](operations.md#simulated-networks) instead of WhatsApp.
	NetworkFile string `env:"WA_NETWORK_FILE"`
	// `http://`, `https://` or `socks5://`: a proxy for WhatsApp and its media only.
	ProxyURL string `env:"PROXY_URL"`
	// `false` removes the [console](operations.md#the-console) and the OpenAPI document.
	Console bool `env:"CONSOLE" envDefault:"true"`
	// The console's address at a reverse proxy, such as `https://bridge.example.com`; separate
	// several with commas.
	PublicURL string `env:"PUBLIC_URL"`
	// The origins whose pages may call the API from a browser, such as `https://app.example.com`, separated
	// by commas; `*` for any. Such pages need a token, and never use the console's session.
	CORSOrigins string `env:"CORS_ORIGINS"`
	// A prefix at which everything is served too, such as `/bridged` ([reverse
	// proxies](operations.md#behind-a-reverse-proxy)).
	BasePath string `env:"BASE_PATH"`
	// The bridges that the console offers in a [switch](../deploy/accounts/README.md), with their
	// states: `Anna=/a/anna,Shop=/a/shop`. The list includes this bridge.
	Accounts string `env:"ACCOUNTS"`

	// A service that [transcribes](operations.md#transcripts) voice notes: its address without
	// `/v1/audio/transcriptions`, such as `http://whisper:8000`.
	TranscribeURL string `env:"TRANSCRIBE_URL"`
	// The voice notes to transcribe when they arrive: `incoming`, `all` (own ones too) or `off`.
	// With a service, any can be requested.
	Transcribe string `env:"TRANSCRIBE" envDefault:"off"`
	// The service's key.
	TranscribeKey string `env:"TRANSCRIBE_KEY"`
	// A file with the key instead.
	TranscribeKeyFile string `env:"TRANSCRIBE_KEY_FILE"`
	// The model's name, such as `whisper-1`; only whisper.cpp's server needs none.
	TranscribeModel string `env:"TRANSCRIBE_MODEL"`
	// The spoken language by its ISO 639 code, such as `de`; by default any.
	TranscribeLanguage string `env:"TRANSCRIBE_LANGUAGE"`
	// Minutes of audio a month; 0 is unlimited.
	TranscribeMinutes int `env:"TRANSCRIBE_MINUTES" envDefault:"0"`

	// The endpoint for [agents](agents.md#switch-it-on): `read`, `send` or `off`.
	MCP string `env:"MCP" envDefault:"off"`
	// `true`: clients such as claude.ai [get a token over OAuth](agents.md#over-oauth), with consent
	// in the console. Needs a `PUBLIC_URL` with https, or on this machine.
	MCPOAuth bool `env:"MCP_OAUTH" envDefault:"false"`
	// JIDs that agents may send to, separated by commas; without it only tokens with `chats` can
	// send.
	MCPSendChats string `env:"MCP_SEND_CHATS"`
	// `true`: a person confirms each send in the agent's client; clients that cannot ask are
	// refused.
	MCPConfirm bool `env:"MCP_CONFIRM" envDefault:"false"`
	// Sends in any sixty seconds for a token tree.
	MCPSendsPerMinute int `env:"MCP_SENDS_PER_MINUTE" envDefault:"10"`

	// The [compatibility APIs](compatibility.md) to serve: `waha`, `evolution`, `cloud`.
	Compat string `env:"COMPAT"`
	// Addresses that serve one of them at the root, for clients that take no path:
	// `evolution=127.0.0.1:8081`.
	CompatListen string `env:"COMPAT_LISTEN"`
	// The name of the only instance of Evolution API.
	CompatInstance string `env:"COMPAT_INSTANCE" envDefault:"bridged"`
	// `true` lets clients of the Cloud API put the key into the address.
	CompatURLToken bool `env:"COMPAT_URL_TOKEN" envDefault:"false"`

	// How long events are stored for readers and webhooks; 0 is unlimited.
	EventsMaxAge time.Duration `env:"EVENTS_MAX_AGE" envDefault:"30d"`
	// How many events are stored; 0 is unlimited.
	EventsMaxCount int `env:"EVENTS_MAX_COUNT" envDefault:"1000000"`
	// The address to post the events of all chats to; separate several with commas. Webhooks of
	// some chats are created [over the API](api.md#follow-events).
	WebhookURL string `env:"WEBHOOK_URL"`
	// Signs the posts, required with `WEBHOOK_URL`: `whsec_` and the base64 of 24 to 64 bytes.
	WebhookSecret string `env:"WEBHOOK_SECRET"`
	// A file with the secret instead.
	WebhookSecretFile string `env:"WEBHOOK_SECRET_FILE"`
	// The event types to post, separated by commas; by default all.
	WebhookEvents string `env:"WEBHOOK_EVENTS"`
	// Private addresses that webhooks created over the API may use: prefixes such as `10.0.0.0/8`,
	// separated by commas.
	WebhookPrivate string `env:"WEBHOOK_ALLOW_PRIVATE"`

	// The NATS servers of a [fleet](fleet.md), such as `nats://host:4222` or `tls://host:4222`,
	// separated by commas.
	NATSURL string `env:"NATS_URL"`
	// The user's credentials as nsc writes them.
	NATSCredsFile string `env:"NATS_CREDS_FILE"`
	// Certificates to trust, in PEM.
	NATSCAFile string `env:"NATS_CA_FILE"`
	// How subjects begin, and, in capitals, streams and buckets.
	NATSPrefix string `env:"NATS_PREFIX" envDefault:"bridged"`
	// How many servers store each event: 3 in a cluster.
	NATSReplicas int `env:"NATS_REPLICAS" envDefault:"1"`
	// When another process can take over the account of a dead one, if bridged creates the bucket;
	// 2s to 1h.
	NATSOwnerTTL time.Duration `env:"NATS_OWNER_TTL" envDefault:"60s"`

	// Private address prefixes that bridged may fetch from, such as `127.0.0.0/8`;
	// on a simulated network only.
	SimulatedFetchAllow string `env:"SIMULATED_FETCH_ALLOW"`

	// The checks set the fields from here on.

	FFmpegPath       string // empty if there is none
	Network          wa.Network
	FetchAllow       []netip.Prefix
	Webhooks         []bridge.Webhook
	PrivateHooks     []netip.Prefix // permitted for webhooks that are created over the API
	Level            zerolog.Level
	PublicURLs       []*url.URL        // with BasePath
	AllowedOrigins   []string          // of CORS_ORIGINS; nil if none
	AccountList      []Account         // of ACCOUNTS; nil if none
	OAuthURLs        []*url.URL        // those that OAuth is offered at; nil without OAuth
	SendChats        []bridge.JID      // that agents may send to; nil if none
	Adapters         []string          // compatibility APIs that are served under their prefixes
	AdapterListeners []AdapterListener // compatibility APIs that are served at the root of an address
	Transcriber      *url.URL          // base URL of the service; nil if none
	Language         string            // of voice notes, by its ISO 639 code; "" for any
	Misspelt         []string          // a sentence for each variable that looks misspelt or is no longer read
	Warnings         []string          // sentences about values that bridged starts with, with the remedy after a colon
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
	err := env.ParseWithOptions(&c, env.Options{Environment: byCurrentName(environ), FuncMap: valueParsers()})
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
