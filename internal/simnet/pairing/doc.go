// Package pairing is where clients come that are not linked to an account yet, from the server's side: references for QR codes, requests for a
// pairing code, the demand for a passkey, and the rotation of a client's secret.
//
// A [Desk] has a [Pairing] for each such client. The phone's side of the dialogue takes its steps by the Pairing's channels, and ends it with
// [Desk.Reserve], [Desk.SendPairSuccess] and [Desk.Adopt]. The fields of a Pairing are guarded by Directory.Mu.
package pairing
