package config

import (
	"bytes"
	"crypto/x509"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"
)

// natsPrefix is what a prefix may be: it is a part of subjects and, in
// capitals, of the names of streams.
var natsPrefix = regexp.MustCompile(`^[A-Za-z0-9_-]{1,32}$`)

// natsSchemes are the ways to a server that the client library knows.
var natsSchemes = []string{"nats", "tls", "ws", "wss"}

// mostReplicas is the most copies that a server keeps of a stream.
const mostReplicas = 5

// shortestOwnerTTL is for tests; elections of the servers need more.
const shortestOwnerTTL = 2 * time.Second

// checkNATS checks the variables of NATS. Without NATS_URL the others mean
// nothing, and are checked nevertheless: they were set for something.
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
	if !natsPrefix.MatchString(c.NATSPrefix) {
		faults.add("NATS_PREFIX must have 1 to 32 letters, digits, - or _: subjects and streams begin with it")
	}
	if c.NATSReplicas < 1 || c.NATSReplicas > mostReplicas {
		faults.add("NATS_REPLICAS must be 1 to %d: how many servers keep each event, 3 in a cluster", mostReplicas)
	}
	if c.NATSEventsMaxAge < 0 {
		faults.add("NATS_EVENTS_MAX_AGE must not be negative; 0 is no limit")
	}
	if c.NATSEventsMaxBytes < 0 {
		faults.add("NATS_EVENTS_MAX_BYTES must not be negative; 0 is no limit")
	}
	if c.NATSOwnerTTL < shortestOwnerTTL || c.NATSOwnerTTL > time.Hour {
		faults.add("NATS_OWNER_TTL must be %v to 1h, such as 60s: an election of the servers takes up to 10 seconds", shortestOwnerTTL)
	}
	if c.NATSDuplicateWindow < 100*time.Millisecond || c.NATSEventsMaxAge > 0 && c.NATSDuplicateWindow > c.NATSEventsMaxAge {
		faults.add("NATS_DUPLICATE_WINDOW must be 100ms to NATS_EVENTS_MAX_AGE, such as 2m")
	}
}

// checkNATSURL reads the addresses of the servers.
func (c *Config) checkNATSURL(faults *Faults) {
	c.NATSURL = strings.TrimSpace(c.NATSURL)
	if c.NATSURL == "" {
		return
	}
	var urls []string
	for value := range strings.SplitSeq(c.NATSURL, ",") {
		value = strings.TrimSpace(value)
		at, err := url.Parse(value)
		if err != nil || at.Hostname() == "" || !slices.Contains(natsSchemes, at.Scheme) {
			faults.add("%v", orMeant("NATS_URL must be addresses such as nats://host:4222 or tls://host:4222, with commas between", meantServer(value)))
			return
		}
		urls = append(urls, value)
	}
	c.NATSURL = strings.Join(urls, ",")
}

// checkCreds checks that a file holds a user's token and key.
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

// meantServer returns the address that was probably meant by a bare host.
func meantServer(value string) string {
	if value == "" || strings.ContainsAny(value, "/@ ") {
		return ""
	}
	at, err := url.Parse("nats://" + value)
	if err != nil || at.Hostname() == "" {
		return ""
	}
	if at.Port() == "" {
		at.Host += ":4222"
	}
	return at.String()
}
