// Package people is who is on the network and what waits for them: accounts, their devices with keys, connections, queues and faults, the app state
// that an account's devices share, and whom an account trusts.
//
// A [Directory] has them all, and Directory.Mu is the one lock of a network: it guards the fields of an [Account], a [Device] and a [Client], and
// the state of the rooms above. Exported functions of those rooms that take no lock say that the caller holds it. Who changes something calls
// [Directory.Notify], which wakes everybody who is in [Directory.Wait].
//
// [Directory.Push] puts a stanza into a device's queue (outbox.go): it is delivered, in order, until the device has acknowledged it. Faults are
// methods of the Device that they happen to (faults.go). What an account's owner can do at the server are methods of the Account
// (account_owner.go), which phones embed; the one thing that the server asks of phones is [Owner].
package people
