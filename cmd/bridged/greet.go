package main

import (
	"net"
	"path/filepath"

	"github.com/rs/zerolog"
)

// greet logs what everybody wants to know first: which program listens where,
// where its data is, and what is switched off or looks like a mistake. Whether
// the account is paired follows as soon as that is known.
func greet(log zerolog.Logger, c config, address net.Addr) {
	for _, m := range c.misspelt {
		log.Warn().Msg(m.String())
	}
	if c.network.IsSimulated() {
		log.Warn().Msg("WA_NETWORK_FILE is set: this is a simulated network, not WhatsApp")
	}
	dir, err := filepath.Abs(c.DataDir)
	if err != nil {
		dir = c.DataDir
	}
	log.Info().Str("version", version).Str("whatsmeow", libraryVersion()).Stringer("address", address).
		Str("data_dir", dir).Bool("enable_send", c.EnableSend).Msg("listening")
	if !c.EnableSend {
		log.Info().Msg("sending is off: set ENABLE_SEND=true to switch it on")
	}
}
