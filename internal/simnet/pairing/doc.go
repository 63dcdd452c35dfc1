// Package pairing links clients to accounts, on the side of the server and of the phone: references for QR codes and pairing codes, the dialogues
// that agree on a secret, the passkey that a network may demand, and the rotation of secrets.
//
// A [Desk] has a [Pairing] for each client that is not linked yet (pairing.go: the client's queries). A phone picks one by [Desk.Scan] or
// [Desk.EnterCode] (code.go), makes it prove a passkey with [Desk.DemandPasskey] (passkey.go) and makes it a device with [Desk.Link] (link.go); the
// account's private key goes no further than these calls. Directory.Mu guards the fields of a Pairing; its channels carry the client's steps to
// the phone.
package pairing
