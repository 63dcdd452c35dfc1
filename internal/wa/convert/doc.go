// Package convert translates between the network's values and the bridge's: it reads
// protobufs and events of whatsmeow as [bridge.Fact] values, and makes protobufs of
// [bridge.Content]. All of it is pure: no network, no database, no state.
//
// Start with [MessageFacts] for what is received and [Composed] for what is sent. The
// table of all kinds of messages is kinds.go.
//
// A message may be anything that a stranger's phone can send. What is not understood
// becomes a message with its type's name and no content, and no input makes a
// function loop without end; a panic of the protobuf's own is for the caller to catch
// where it says so.
package convert
