// Package wa is the socket manager: it owns the account's one connection, its status,
// pairing, reconnecting and logout, and decides what is acknowledged. Of its rooms,
// session holds the inside of whatsmeow, convert translates between protobufs and bridge
// values, and sending, groups and history do what their names say.
//
// Call [Open], then [Manager.Run] in a goroutine of its own; everything else
// may be called at any time from anywhere. Received facts go to the [Store]
// that the store implements, each stanza's facts in one call, and a stanza is
// acknowledged only after that call succeeded.
//
// The package and its rooms are, with the simulated network, the only importers of
// whatsmeow. They know neither the store's tables nor routes nor status codes.
package wa
