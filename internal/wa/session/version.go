package session

import "go.mau.fi/whatsmeow/store"

// Version is that of a client of the network's.
type Version = store.WAVersionContainer

// BuiltInVersion returns the version that whatsmeow was made for.
func BuiltInVersion() Version { return store.GetWAVersion() }

// ParseVersion reads what [Version.String] has written.
func ParseVersion(text string) (Version, error) { return store.ParseVersion(text) }
