// Package wa is the socket manager: it owns the one whatsmeow client and its
// replacement, the account's status, pairing, reconnecting and logout. It
// turns socket events into [bridge.Fact] values and [bridge.Outgoing] into
// protobuf, and it decides what is acknowledged.
//
// Call [Open], then [Manager.Run] in a goroutine of its own; everything else
// may be called at any time from anywhere. Received facts go to the [Store]
// that the store implements, each stanza's facts in one call, and a stanza is
// acknowledged only after that call succeeded.
//
// The package is, with the simulated network, the only importer of whatsmeow.
// It knows neither tables nor routes nor status codes.
package wa
