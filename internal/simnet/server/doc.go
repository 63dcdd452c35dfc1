// Package server is the network without its phones: accounts and their devices, what waits for each device, groups, calls, pairings, and the answers to
// whatever clients ask. It routes stanzas and never looks into a message.
//
// A [Server] accepts sockets (sockets.go) and hands each stanza to the handler of its kind (server.go, iq.go). Server.Mu guards all of its state:
// handlers are called with it held, and so is everything whose comment says so. [Server.Push] puts a stanza into a device's queue (outbox.go);
// whatever changes state calls [Server.Notify], which wakes those who [Server.Wait] for it.
//
// An [Account] is used with somebody's phone, its [Owner]: the one thing that the server asks of phones. Methods of an Account are what its owner can
// do at the server; phones have them as their own.
//
// Where to begin: a query is answered in iq.go's table, a stanza of a new kind in server.go's; a fault belongs to what it happens to, a [Device]
// or the Server (faults.go), and is a method that takes the lock itself. Where the real server's behaviour is unknown, a comment says that the code
// guesses.
package server
