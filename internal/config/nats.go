package config

import (
	"bytes"
	"crypto/x509"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"
)

// natsPrefix matches a prefix: it is a part of subjects and, in capitals, of the names
// of streams.
var natsPrefix = regexp.MustCompile(`^[A-Za-z0-9_-]{1,32}$`)

// natsSchemes are those that the client library knows.
var natsSchemes = []string{"nats", "tls", "ws", "wss"}

// checkNATS checks the addresses and files of NATS, also the files without NATS_URL.
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

// meantServer returns the address that a bare host probably means.
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
