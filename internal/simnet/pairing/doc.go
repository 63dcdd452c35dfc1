// Package pairing is how clients become devices of an account, on both sides: references for QR codes and codes to be entered, the dialogues in which
// a secret is agreed on, the passkey that a network may demand for it, and the rotation of secrets.
//
// A [Desk] has a [Pairing] for each client that is not linked yet (pairing.go: what the client asks). A phone takes one by [Desk.Scan] or
// [Desk.EnterCode] (code.go), has it prove a passkey with [Desk.DemandPasskey] (passkey.go) and makes it a device with [Desk.Link] (link.go); the
// account's private key goes no further than these calls. The fields of a Pairing are guarded by Directory.Mu, its channels carry what the client
// says from the one side to the other.
package pairing
