// Package people holds the accounts of the network: their devices with keys, connections, queues and faults, the app state that an account's
// devices share, and whom an account trusts.
//
// A [Directory] holds them all, and Directory.Mu is the only lock of a network: it guards the fields of an [Account], a [Device] and a [Client], and
// the state of the packages above. Their exported functions that take no lock say that the caller holds it. Every change calls
// [Directory.Notify], which wakes the callers of [Directory.Wait].
//
// [Directory.Push] puts a stanza into a device's queue (outbox.go), from which it is delivered, in order, until the device has acknowledged it.
// Faults are methods of the Device they apply to (faults.go). Actions of an account's owner at the server are methods of the Account
// (account_owner.go), which phones embed; [Owner] is all that the server needs of phones.
package people
