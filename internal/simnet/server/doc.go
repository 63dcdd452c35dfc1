// Package server implements the network without its phones. It accepts sockets (sockets.go), logs devices in and passes each stanza to the handler
// of its kind (server.go): queries (iq.go), messages, receipts, calls. It routes stanzas and never looks into a message.
//
// A [Server] is its [people.Directory], its [groups.Registry] and its [pairing.Desk], and calls their handlers with Directory.Mu held, as its own.
//
// To answer a new query, begin in answerPaired (iq.go); for a new kind of stanza, in Server.handle. Where the real server's behaviour is unknown, a
// comment says that the code guesses.
package server
