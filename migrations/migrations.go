// Package migrations holds the schema of bridged.db, one numbered file for
// each step that it has taken. The files only ever go forward; internal/store
// applies them.
package migrations

import "embed"

// FS holds the migrations by file name.
//
//go:embed *.sql
var FS embed.FS
