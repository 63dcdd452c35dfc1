// Package migrations holds the schema of bridged.db: one numbered file for each
// change, only ever forward. A released file is never changed. Package store
// applies them.
package migrations

import (
	"embed"
	"io/fs"
)

// FS holds the migrations by file name.
//
//go:embed *.sql
var FS embed.FS

// Names returns the file names of the migrations, in their order.
func Names() []string {
	names, err := fs.Glob(FS, "*.sql")
	if err != nil { // only the pattern can be wrong
		panic(err)
	}
	return names
}
