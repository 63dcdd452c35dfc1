// Package simnet simulates the other side of the wire: a network like WhatsApp's within one process, without a phone or the internet.
//
// A Network is a server that an unmodified whatsmeow client pairs with and talks to. It routes stanzas and never looks into a message. A Phone is a
// person: device 0 of an account, a real whatsmeow client in this process, so that the cryptography and the format of every message are real.
// Tests, the demo and the benchmark write to the bridge through phones and cause failures through faults.
//
// This package has the phones and re-exports the packages below it, each listed after those that it imports:
//
//	wire      sockets: TLS, Noise, frames and the codec; reading and writing stanzas
//	media     the media server
//	people    accounts, devices with their queues and faults; the one lock
//	groups    groups, above people
//	pairing   how clients become devices of an account, above people
//	server    logins, queries, messages, receipts and calls, above all of these
//	signal    a phone's keys and sessions
//	content   the protobuf of messages
//
// names.go re-exports the names that users need. A phone is its account (people.Account, whose methods are its owner's actions at the server) with a
// client; a new thing that people do becomes a method of Phone, in the file of its subject.
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
//   - Stanzas that a device has not acknowledged are delivered again, in order, on its next connection.
//   - All networks of a process share one Noise root key, generated with the first of them: whatsmeow checks against a package variable,
//     which New sets and which must not be written again while clients run.
//
// A Computer shows which files of a phone WhatsApp Web would refuse.
//
// Faults are methods of the object that they apply to: a Device (Drop, Freeze, Delay, Duplicate, CorruptMessages, IgnoreAcks, FailSends, FailLogins,
// StreamError, EndLogins, HoldBackOffline ..), the Network (Down, RefuseSockets, CloseUnpaired, AnnounceExpiry, FailQueries ..), the CDN (Expire, Fail), a Phone (AnswerMedia,
// IgnoreRequests, WithholdMapping, LockReachout, CapNewChats, Disconnect). A Device records the stanzas that it was sent and has acknowledged.
//
// Not simulated: channels, and the audio of calls. Where the real server's behaviour is unknown, a comment says that the code guesses.
package simnet
