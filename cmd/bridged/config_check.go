package main

import (
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/rs/zerolog"

	"bridged/internal/api/front"
	"bridged/internal/bridge"
	"bridged/internal/wa"
)

func (c *config) check(faults *configFaults) {
	c.checkToken(faults)
	c.checkPhoneNumber(faults)
	c.checkListenAddr(faults)
	c.checkDataDir(faults)
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
		faults.add("RETENTION_DAYS must not be negative; 0 keeps them all")
	}
	if c.FetchTimeout <= 0 {
		faults.add("FETCH_TIMEOUT must be longer than 0, such as 60s")
	}
	if c.NewChatsPerDay < 0 {
		faults.add("NEW_CHATS_PER_DAY must not be negative; 0 is any number")
	}
	if c.NewChatsMinGap < 0 || c.NewChatsMinGap > 24*time.Hour {
		faults.add("NEW_CHATS_MIN_GAP must be 0 to 24h, such as 90s; 0 is no gap")
	}
	c.checkConnections(faults)
	c.checkLog(faults)
	c.checkNetwork(faults)
	c.checkFetchAllow(faults)
	c.checkEvents(faults)
	c.checkPublicURL(faults)
	c.checkMCP(faults)
	c.checkFleet(faults)
}

func (c *config) checkPhoneNumber(faults *configFaults) {
	if strings.TrimSpace(c.PhoneNumber) == "" {
		c.PhoneNumber = ""
		return
	}
	phone, err := bridge.ParsePhone(c.PhoneNumber)
	if err != nil {
		faults.add("PHONE_NUMBER %v", err)
	}
	c.PhoneNumber = phone
}

func (c *config) checkListenAddr(faults *configFaults) {
	_, port, err := net.SplitHostPort(c.ListenAddr)
	if err == nil && port != "" {
		_, err = net.LookupPort("tcp", port)
	}
	if err == nil && port != "" {
		return
	}
	meant := ""
	if number, err := strconv.ParseUint(strings.TrimPrefix(c.ListenAddr, ":"), 10, 16); err == nil {
		meant = fmt.Sprintf(": did you mean 127.0.0.1:%d?", number)
	} else if c.ListenAddr != "" && !strings.ContainsAny(c.ListenAddr, ":/ ") {
		meant = fmt.Sprintf(": did you mean %s:8080?", c.ListenAddr)
	}
	faults.add("LISTEN_ADDR must be host:port, such as 127.0.0.1:8080%s", meant)
}

const (
	// usualConnections is enough for 2,000 streams of one account and all else.
	usualConnections = 4096
	// otherFiles are the descriptors that are not connections of callers: the
	// databases, WhatsApp, fetches, webhooks, files that are read.
	otherFiles = 256
)

// checkConnections fills in as many connections as are usual, where this
// process may open so many files. Go raises its limit to the highest allowed.
func (c *config) checkConnections(faults *configFaults) {
	files := fileLimit()
	most := files - min(otherFiles, files/2)
	if c.MaxConnections == 0 {
		c.MaxConnections = min(usualConnections, most)
	}
	if c.MaxConnections < front.MinConnections || c.MaxConnections > most {
		faults.add("MAX_CONNECTIONS must be %d to %d: this process may open %d files (ulimit -n)", front.MinConnections, most, files)
	}
}

func (c *config) checkDataDir(faults *configFaults) {
	if c.DataDir == "" {
		faults.add("DATA_DIR must name a directory")
	}
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
		faults.add("BRIDGE_TOKEN is not set: choose a secret of at least %d characters, for example with: openssl rand -hex 24%s", minTokenLength, unreadFile())
	case len(c.Token) < minTokenLength:
		faults.add("BRIDGE_TOKEN is too short: it must have at least %d characters, for example from: openssl rand -hex 24", minTokenLength)
	case strings.ContainsFunc(c.Token, func(r rune) bool { return r <= ' ' || r > '~' }):
		faults.add("BRIDGE_TOKEN must be visible ASCII characters without spaces: it travels in a header")
	}
}

// unreadFile explains why what is in .env does not count, where there is one.
func unreadFile() string {
	if _, err := os.Stat(".env"); err != nil {
		return ""
	}
	return "; docker compose reads the file .env, bridged does not: load it with: set -a; . ./.env; set +a"
}

func (c *config) checkLog(faults *configFaults) {
	level, err := zerolog.ParseLevel(strings.ToLower(c.LogLevel))
	if err != nil || level == zerolog.NoLevel {
		must := "LOG_LEVEL must be trace, debug, info, warn or error"
		faults.add("%v", orMeant(must, nearest(strings.ToLower(c.LogLevel), "trace", "debug", "info", "warn", "error")))
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

// checkFetchAllow reads the addresses that count as public on a simulated
// network, whose files lie on this machine (D7.2). On the real one there are none:
// the guard's promise is not for sale by a variable.
func (c *config) checkFetchAllow(faults *configFaults) {
	if c.SimulatedFetchAllow == "" {
		return
	}
	if c.NetworkFile == "" {
		faults.add("SIMULATED_FETCH_ALLOW is for simulated networks only: unset it, or set WA_NETWORK_FILE")
		return
	}
	for value := range strings.SplitSeq(c.SimulatedFetchAllow, ",") {
		prefix, err := netip.ParsePrefix(strings.TrimSpace(value))
		if err != nil {
			faults.add("SIMULATED_FETCH_ALLOW must be address prefixes with commas between, such as 127.0.0.0/8")
			return
		}
		c.fetchAllow = append(c.fetchAllow, prefix)
	}
}
