package config

import (
	"bytes"
	"cmp"
	"crypto/x509"
	"iter"
	"net"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/rs/zerolog"

	"bridged/internal/api/front"
	"bridged/internal/bridge"
	"bridged/internal/transcode"
	"bridged/internal/wa"
)

func (c *Config) check(faults *Faults) {
	c.CheckToken(faults)
	c.checkPhoneNumber(faults)
	c.CheckListenAddr(faults)
	c.CheckDataDir(faults)
	nameLength := utf8.RuneCountInString(c.DeviceName)
	for _, bound := range []struct {
		holds bool
		fault string
	}{
		{nameLength >= 1 && nameLength <= 50, "DEVICE_NAME must have 1 to 50 characters: the phone shows it under linked devices"},
		{
			c.ClientVersion == "" || wa.CheckClientVersion(c.ClientVersion) == nil,
			"CLIENT_VERSION must have the form 2.3000.N, such as 2.3000.1049878396: docs/operations.md says where to find one",
		},
		{c.MediaMaxBytes > 0, "MEDIA_MAX_BYTES must be greater than 0"},
		{c.MediaCacheBytes >= 0, "MEDIA_CACHE_BYTES must not be negative; 0 switches the cache off"},
		{c.ImportMaxBytes > 0, "IMPORT_MAX_BYTES must be greater than 0: it bounds an exported chat with its files"},
		{c.ImportQuota >= 0, "IMPORT_QUOTA must not be negative; 0 means no limit to what the imports of a token may store"},
		{c.RetentionDays >= 0, "RETENTION_DAYS must not be negative; 0 stores messages forever"},
		{c.BackupKeep >= 0, "BACKUP_KEEP must not be negative; 0 retains all backups"},
		{c.BackupDir == "" || filepath.Clean(c.BackupDir) != filepath.Clean(c.DataDir), "BACKUP_DIR must be another directory than DATA_DIR, best on another disk"},
		{c.FetchTimeout > 0, "FETCH_TIMEOUT must be longer than 0, such as 60s"},
		{c.NewChatsPerDay >= 0, "NEW_CHATS_PER_DAY must not be negative; 0 is any number"},
		{c.ScheduleGrace >= time.Minute && c.ScheduleGrace <= 24*time.Hour, "SCHEDULE_GRACE must be 1m to 24h, such as 1h"},
		{c.NewChatsMinGap >= 0 && c.NewChatsMinGap <= 24*time.Hour, "NEW_CHATS_MIN_GAP must be 0 to 24h, such as 90s; 0 means no gap"},
		{c.EventsMaxAge >= 0, "EVENTS_MAX_AGE must not be negative; 0 means no limit"},
		{c.EventsMaxCount >= 0, "EVENTS_MAX_COUNT must not be negative; 0 means no limit"},
		{natsPrefix.MatchString(c.NATSPrefix), "NATS_PREFIX must have 1 to 32 letters, digits, - or _: subjects and streams start with it"},
		{c.NATSReplicas >= 1 && c.NATSReplicas <= 5, "NATS_REPLICAS must be 1 to 5: how many servers keep each event, 3 in a cluster"},
		{c.NATSOwnerTTL >= 2*time.Second && c.NATSOwnerTTL <= time.Hour, "NATS_OWNER_TTL must be 2s to 1h, such as 60s: an election of the servers takes up to 10 seconds"},
	} {
		if !bound.holds {
			faults.add("%s", bound.fault)
		}
	}
	c.checkFFmpeg(faults)
	c.checkConnections(faults)
	c.CheckLog(faults)
	c.checkNetwork(faults)
	c.checkFetchAllow(faults)
	c.checkWebhooks(faults)
	c.checkBasePath(faults)
	c.checkPublicURL(faults)
	c.checkOrigins(faults)
	c.checkAccounts(faults)
	c.checkTranscribe(faults)
	c.CheckMCP(faults)
	c.checkOAuth(faults)
	c.checkAdapters(faults)
	c.checkNATS(faults)
}

// items returns the items of a comma-separated list, without empty ones.
func items(list string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for item := range strings.SplitSeq(list, ",") {
			if item = strings.TrimSpace(item); item != "" && !yield(item) {
				return
			}
		}
	}
}

// parseList parses the items of a list and drops duplicates. If an item is invalid, the fault
// says what it must be.
func parseList[T comparable](faults *Faults, list, fault string, parse func(item string) (T, bool)) (parsed []T) {
	for item := range items(list) {
		value, ok := parse(item)
		if !ok {
			faults.add("%s", fault)
			return nil
		}
		if !slices.Contains(parsed, value) {
			parsed = append(parsed, value)
		}
	}
	return parsed
}

// secret returns the value of a variable, or the content of the file that its _FILE variable
// names.
func secret(name, value, file string, faults *Faults) string {
	if file == "" {
		return value
	}
	if value != "" {
		faults.add("%[1]s and %[1]s_FILE are both set: unset one of them", name)
		return value
	}
	data, err := os.ReadFile(file)
	if err != nil {
		faults.add("%s_FILE cannot be read: %v", name, err)
	}
	return strings.TrimSpace(string(data))
}

const minTokenLength = 16

// CheckToken reads the token from the variable or its file.
func (c *Config) CheckToken(faults *Faults) {
	before := len(*faults)
	c.Token = secret("BRIDGE_TOKEN", c.Token, c.TokenFile, faults)
	switch {
	case len(*faults) > before:
	case c.Token == "":
		faults.add("BRIDGE_TOKEN is not set: choose a secret of at least %d characters, for example with: openssl rand -hex 24", minTokenLength)
	case len(c.Token) < minTokenLength:
		faults.add("BRIDGE_TOKEN is too short: it must have at least %d characters, for example from: openssl rand -hex 24", minTokenLength)
	case !isVisible(c.Token):
		faults.add("BRIDGE_TOKEN must be visible ASCII characters without spaces: it travels in a header")
	}
}

// isVisible reports whether a text is visible ASCII characters without spaces, as a secret in a header must be.
func isVisible(text string) bool {
	return text != "" && !strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r > '~' })
}

func (c *Config) checkPhoneNumber(faults *Faults) {
	if c.PhoneNumber = strings.TrimSpace(c.PhoneNumber); c.PhoneNumber == "" {
		return
	}
	phone, err := bridge.ParsePhone(c.PhoneNumber)
	if err != nil {
		faults.add("PHONE_NUMBER %v", err)
	}
	c.PhoneNumber = phone
}

// CheckListenAddr checks the address of the API.
func (c *Config) CheckListenAddr(faults *Faults) {
	_, port, err := net.SplitHostPort(c.ListenAddr)
	if err == nil && port != "" {
		_, err = net.LookupPort("tcp", port)
	}
	if err == nil && port != "" {
		return
	}
	faults.add("LISTEN_ADDR must be host:port, such as 127.0.0.1:8080")
}

// CheckDataDir checks that the directory is set. Opening it checks the rest.
func (c *Config) CheckDataDir(faults *Faults) {
	if c.DataDir == "" {
		faults.add("DATA_DIR must name a directory")
	}
}

// checkFFmpeg finds ffmpeg.
func (c *Config) checkFFmpeg(faults *Faults) {
	if strings.EqualFold(strings.TrimSpace(c.FFmpeg), "off") {
		return
	}
	path, err := transcode.Find(c.FFmpeg)
	if err != nil {
		faults.add("FFMPEG must be the path of ffmpeg, or off; without it the search path decides: %v", err)
	}
	c.FFmpegPath = path
}

const (
	// usualConnections is enough for 2,000 streams of one account and everything else.
	usualConnections = 4096
	// otherFiles are the file descriptors for databases, WhatsApp, fetches, webhooks and files.
	otherFiles = 256
)

// checkConnections limits the connections by the number of files that this process may open. Go
// raises that limit to the allowed maximum.
func (c *Config) checkConnections(faults *Faults) {
	files := fileLimit()
	most := files - min(otherFiles, files/2)
	c.MaxConnections = cmp.Or(c.MaxConnections, min(usualConnections, most))
	if c.MaxConnections < front.MinConnections || c.MaxConnections > most {
		faults.add("MAX_CONNECTIONS must be %d to %d: this process may open %d files (ulimit -n)", front.MinConnections, most, files)
	}
}

// CheckLog parses the level of the log.
func (c *Config) CheckLog(faults *Faults) {
	level, err := zerolog.ParseLevel(strings.ToLower(c.LogLevel))
	if err != nil || level == zerolog.NoLevel {
		faults.add("LOG_LEVEL must be trace, debug, info, warn or error")
	}
	c.Level = level
	if !slices.Contains([]string{"", "json", "console"}, c.LogFormat) {
		faults.add("LOG_FORMAT must be json or console")
	}
}

func (c *Config) checkNetwork(faults *Faults) {
	if c.NetworkFile != "" {
		network, err := wa.ReadNetworkFile(c.NetworkFile)
		if err != nil {
			faults.add("WA_NETWORK_FILE cannot be used: %v", err)
		}
		c.Network = network
	}
	if c.ProxyURL == "" {
		return
	}
	proxy, err := url.Parse(c.ProxyURL)
	if err != nil || proxy.Host == "" || !slices.Contains([]string{"http", "https", "socks5"}, proxy.Scheme) {
		faults.add("PROXY_URL must be an http://, https:// or socks5:// address")
		return
	}
	c.Network.Proxy = proxy
}

// checkFetchAllow parses the addresses that count as public on a simulated network. On the real
// network no variable can weaken the guard.
func (c *Config) checkFetchAllow(faults *Faults) {
	if c.SimulatedFetchAllow != "" && c.NetworkFile == "" {
		faults.add("SIMULATED_FETCH_ALLOW is for simulated networks only: unset it, or set WA_NETWORK_FILE")
		return
	}
	const fault = "SIMULATED_FETCH_ALLOW must be address prefixes separated by commas, such as 127.0.0.0/8"
	c.FetchAllow = parseList(faults, c.SimulatedFetchAllow, fault, func(item string) (netip.Prefix, bool) {
		prefix, err := netip.ParsePrefix(item)
		return prefix, err == nil
	})
}

// These are the values of MCP.
const (
	MCPOff  = "off"
	MCPRead = "read"
	MCPSend = "send"
)

// CheckMCP parses the permissions of agents.
func (c *Config) CheckMCP(faults *Faults) {
	c.MCP = strings.ToLower(strings.TrimSpace(c.MCP))
	if !slices.Contains([]string{MCPOff, MCPRead, MCPSend}, c.MCP) {
		faults.add("MCP must be off, read or send")
	}
	if c.MCPSendsPerMinute < 1 || c.MCPSendsPerMinute > 1000 {
		faults.add("MCP_SENDS_PER_MINUTE must be 1 to 1000")
	}
	const fault = "MCP_SEND_CHATS must list JIDs of people and groups separated by commas, such as 15551234567@s.whatsapp.net"
	c.SendChats = parseList(faults, c.MCPSendChats, fault, parseChat)
}

// checkOAuth finds the addresses that OAuth is offered at. Codes and secrets must not travel in plain
// text, except on this machine.
func (c *Config) checkOAuth(faults *Faults) {
	if !c.MCPOAuth {
		return
	}
	for _, at := range c.PublicURLs {
		if at.Scheme == "https" || isThisMachine(at.Hostname()) {
			c.OAuthURLs = append(c.OAuthURLs, at)
		}
	}
	switch {
	case c.MCP == MCPOff:
		faults.add("MCP_OAUTH needs the endpoint for agents: set MCP=read or MCP=send")
	case !c.Console:
		faults.add("MCP_OAUTH needs the console, which asks for consent: unset CONSOLE")
	case len(c.OAuthURLs) == 0:
		faults.add("MCP_OAUTH needs a PUBLIC_URL with https, such as https://bridge.example.com, or on this machine, such as http://127.0.0.1:8080")
	}
}

func parseChat(item string) (bridge.JID, bool) {
	jid, err := bridge.ParseJID(item)
	return jid, err == nil && (jid.IsPerson() || jid.IsGroup())
}

// natsPrefix matches a prefix. It is part of subjects and, in capitals, of the names of streams.
var natsPrefix = regexp.MustCompile(`^[A-Za-z0-9_-]{1,32}$`)

// natsSchemes are the schemes that the client library supports.
var natsSchemes = []string{"nats", "tls", "ws", "wss"}

// checkNATS checks the URLs and files of NATS. It checks the files even without NATS_URL.
func (c *Config) checkNATS(faults *Faults) {
	c.checkNATSURL(faults)
	if c.NATSCredsFile != "" {
		checkCreds(c.NATSCredsFile, faults)
	}
	if c.NATSCAFile != "" {
		data, err := os.ReadFile(c.NATSCAFile)
		switch {
		case err != nil:
			faults.add("NATS_CA_FILE cannot be read: %v", err)
		case !x509.NewCertPool().AppendCertsFromPEM(data):
			faults.add("NATS_CA_FILE must hold certificates in PEM")
		}
	}
}

func (c *Config) checkNATSURL(faults *Faults) {
	if c.NATSURL = strings.TrimSpace(c.NATSURL); c.NATSURL == "" {
		return
	}
	var urls []string
	for value := range strings.SplitSeq(c.NATSURL, ",") {
		value = strings.TrimSpace(value)
		at, err := url.Parse(value)
		if err != nil || at.Hostname() == "" || !slices.Contains(natsSchemes, at.Scheme) {
			faults.add("NATS_URL must be addresses such as nats://host:4222 or tls://host:4222, separated by commas")
			return
		}
		urls = append(urls, value)
	}
	c.NATSURL = strings.Join(urls, ",")
}

// checkCreds checks that a file contains a user's token and key.
func checkCreds(path string, faults *Faults) {
	data, err := os.ReadFile(path)
	if err != nil {
		faults.add("NATS_CREDS_FILE cannot be read: %v", err)
		return
	}
	if !bytes.Contains(data, []byte("BEGIN NATS USER JWT")) || !bytes.Contains(data, []byte("SEED")) {
		faults.add("NATS_CREDS_FILE must hold a user's token and seed, as nsc writes them with: nsc generate creds")
	}
}
