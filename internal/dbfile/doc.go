// Package dbfile knows what can happen to a database file under a running
// program: SQLite's refusals, for which it has sentences with a remedy
// ([Database.Explain]), and that the file is taken away or replaced by another,
// which SQLite does not notice ([Watch]).
//
// It does not know what the databases hold.
package dbfile
