package backup

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"bridged/internal/bridge"
	"bridged/internal/sqlite"
	"bridged/internal/store/storefile"
)

// Contents describes the contents of a backup.
type Contents struct {
	counts
	NewestMessageAt *bridge.Time `json:"newestMessageAt"`
	// Secrets counts tokens, webhooks and hooks.
	Secrets int64 `json:"secrets"`
	// ImportedFiles counts the files of imported chats that messages need. MissingFiles counts the missing
	// and damaged ones among them.
	ImportedFiles int64 `json:"importedFiles"`
	MissingFiles  int64 `json:"missingFiles"`
}

// counts are compared with the counts of the store.
type counts struct {
	Messages int64 `json:"messages"`
	Chats    int64 `json:"chats"`
}

// readPragmas open a store that another connection may be writing.
var readPragmas = []string{"busy_timeout(5000)", "query_only(1)", "temp_store(MEMORY)", "cache_size(-1024)"}

// use opens a store for reading.
func use(ctx context.Context, path string, read func(c *sqlite.Conn)) (err error) {
	c, err := sqlite.Open(path, readPragmas)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	return c.View(ctx, func() { read(c) })
}

func (n *counts) read(c *sqlite.Conn) {
	c.Find("SELECT (SELECT count(*) FROM messages), (SELECT count(*) FROM chats)", nil, &n.Messages, &n.Chats)
}

func count(ctx context.Context, path string) (n counts, err error) {
	err = use(ctx, path, n.read)
	return n, err
}

// used returns the bytes of the pages in use.
func used(ctx context.Context, path string) (int64, error) {
	var pages, free, size int64
	err := use(ctx, path, func(c *sqlite.Conn) {
		c.Find("PRAGMA page_count", nil, &pages)
		c.Find("PRAGMA freelist_count", nil, &free)
		c.Find("PRAGMA page_size", nil, &size)
	})
	return (pages - free) * size, err
}

// inspect reads every page of a copy and describes its contents. Errors call it by name.
func inspect(ctx context.Context, path, name string) (found Contents, err error) {
	kind := storefile.Database
	kind.Name, kind.Repair = name, "choose another backup"
	if err := kind.CheckHead(path); err != nil {
		return Contents{}, err
	}
	var schema int
	var verdict string
	err = use(ctx, path, func(c *sqlite.Conn) {
		c.Find(kind.SchemaQuery, nil, &schema)
		if schema > kind.Schema || schema == 0 {
			return
		}
		if c.Find("PRAGMA integrity_check(1)", nil, &verdict); verdict != "ok" {
			return
		}
		found.read(c)
		c.Find("SELECT max(timestamp) FROM messages", nil, &found.NewestMessageAt)
		c.Find("SELECT (SELECT count(*) FROM tokens) + (SELECT count(*) FROM webhooks) + (SELECT count(*) FROM hooks)", nil, &found.Secrets)
		c.Find("SELECT count(DISTINCT sha256) FROM kept_files", nil, &found.ImportedFiles)
	})
	switch {
	case ctx.Err() != nil:
		return Contents{}, ctx.Err()
	case err != nil:
		return Contents{}, kind.Explain(err)
	case schema > kind.Schema:
		return Contents{}, fmt.Errorf("%s was written by a newer bridged (schema %d, this program knows %d): install that version, or choose another backup", name, schema, kind.Schema)
	case schema == 0:
		return Contents{}, kind.Damaged(errors.New("it has no tables"))
	case verdict != "ok":
		return Contents{}, kind.Damaged(errors.New(verdict))
	}
	return found, nil
}

// neededFiles returns the hashes of the imported files that the messages of a store need, in order.
func neededFiles(ctx context.Context, path string) (sums [][]byte, err error) {
	err = use(ctx, path, func(c *sqlite.Conn) {
		sums = sqlite.List[[]byte](c, "SELECT DISTINCT sha256 FROM kept_files ORDER BY sha256")
	})
	return sums, err
}

// sizeOfFiles returns the bytes of the files in a directory, which need not exist.
func sizeOfFiles(dir string) (sum int64, err error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	for _, entry := range entries {
		if info, err := entry.Info(); err == nil {
			sum += info.Size()
		}
	}
	return sum, err
}
