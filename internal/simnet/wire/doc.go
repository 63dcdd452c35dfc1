// Package wire is what lies between a client's socket and the server's stanzas: TLS with an authority of its own, a listener that can be down,
// websockets, the responder's side of Noise, frames, and the binary codec. Above that it has the vocabulary of stanzas: how to read and write
// a [Node], an [Answer] to a query, a [ConnectFailure], the hash of a list of devices.
//
// A [Conn] is one client. [Conn.Serve] performs the handshake and hands over stanzas, one after the other; [Conn.Send] queues one and never
// blocks. What can go wrong on the way is a method of the Conn: delays, damaged frames, a half-open connection.
//
// It knows no accounts and no devices. To add a fault of the transport, begin in conn_faults.go.
package wire
