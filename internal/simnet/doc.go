// Package simnet simulates the other side of the wire: a network like WhatsApp's within one process, without a phone or the internet.
//
// A Network is a server that an unmodified whatsmeow client pairs with and talks to. It routes stanzas and never looks into a message. A Phone is a
// person: device 0 of an account, a real whatsmeow client in this process, so that all of the cryptography and every message's format are the real
// ones. Tests, the demo and the benchmark write to the bridge through phones and make things go wrong through faults.
//
// This package has the phones, and the face of the rest, which is in rooms of its own, each above those that it needs:
//
//	wire      sockets: TLS, Noise, frames and the codec; reading and writing stanzas
//	media     the media server
//	people    accounts, devices with their queues and faults; the one lock
//	groups    groups, above people
//	pairing   how clients become devices of an account, above people
//	server    logins, queries, messages, receipts and calls, above all of these
//	signal    a phone's keys and sessions
//	content   what is said in messages, as protobuf
//
// names.go gives the names of the rooms that users need. A phone is its account (people.Account, whose methods are what its owner can do at the
// server) with a client; a new thing that people do is a method of Phone, beside those of its subject.
//
// Where to begin:
//
//	n, err := simnet.New(ctx, simnet.Options{})
//	owner, err := n.NewPhone(ctx, simnet.PhoneOptions{Number: "4915100000001", Name: "Owner"})
//	anna, err := n.NewPhone(ctx, simnet.PhoneOptions{Number: "4915100000002", Name: "Anna"})
//	err = n.WriteNetworkFile(path)                     // points any process at the network
//	device, err := owner.EnterPairingCode(ctx, code)   // the code that the bridge shows
//	id, err := anna.SendText(ctx, owner.PN(), "hello")
//	answer, err := anna.ReceivedText(ctx, "hi")
//
// Promises:
//
//   - It listens on loopback addresses only, prints nothing, and does not import testing: the demo ships it.
//   - Nothing relies on sleeping: every method that waits does so for an event, and ends with its context.
//   - What a device has not acknowledged is delivered again, in order, on its next connection.
//   - All networks of a process share one Noise root key, made with the first of them: whatsmeow checks against a package variable,
//     which New sets and which must not be written again while clients run.
//
// Faults are methods of what they happen to: a Device (Drop, Freeze, Delay, Duplicate, CorruptMessages, IgnoreAcks, FailSends, FailLogins,
// StreamError, AskToReconnect ..), the Network (Down, RefuseSockets, FailQueries, SlowGroups ..), the CDN (Expire, Fail), a Phone (AnswerMedia, IgnoreRequests,
// WithholdMapping, LockReachout, Disconnect). A Device knows what it was sent and what it has acknowledged.
//
// Not simulated: channels, and what is said in a call. Where the real server's behaviour is
// unknown, a comment says that the code guesses.
package simnet
