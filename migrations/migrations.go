// Package migrations holds the schema of bridged.db: one numbered file for each
// change, only ever forward. A released file is never changed. Package store
// applies them.
package migrations

import "embed"

// FS holds the migrations by file name.
//
//go:embed *.sql
var FS embed.FS
