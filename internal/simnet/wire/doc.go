// Package wire lies between a client's socket and the server's stanzas: TLS with its own authority, a listener that can be down, websockets, the
// responder's side of Noise, frames, and the binary codec. It also has the vocabulary of stanzas: reading and writing a [Node], an [Answer] to a
// query, a [ConnectFailure], the hash of a list of devices.
//
// A [Conn] is one client. [Conn.Serve] performs the handshake and passes stanzas on, one after the other; [Conn.Send] queues one and never
// blocks. Faults of the transport are methods of the Conn: delays, damaged frames, a half-open connection.
//
// It knows no accounts and no devices. To add a fault of the transport, begin in conn_faults.go.
package wire
