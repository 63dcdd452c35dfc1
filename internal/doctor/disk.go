package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"bridged/internal/dbfile"
)

// The bytes of free disk space below which there is trouble soon, or at once.
const (
	roomWarns = 1 << 30
	roomFails = 50 << 20
)

// DataDir checks the data directory and its room, and the databases in it unless a bridge
// runs, which checks them itself.
func DataDir(path string, runs func(context.Context) bool) Check {
	return Check{Name: "disk", Look: func(ctx context.Context) []Finding {
		info, err := os.Stat(path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return []Finding{warn("DATA_DIR does not exist yet", "nothing, if bridged was never started here: the first start makes it. Otherwise correct DATA_DIR, or mount its volume")}
		case err != nil:
			return []Finding{fail(fmt.Sprintf("DATA_DIR cannot be read: %v", err), "check owner and mode of the directory or volume")}
		case !info.IsDir():
			return []Finding{fail("DATA_DIR is not a directory", "name a directory")}
		}
		inUse := runs(ctx)
		return []Finding{writable(path), room(path), database(ctx, path, "bridged.db", inUse), database(ctx, path, "session.db", inUse)}
	}}
}

func writable(path string) Finding {
	if err := mayWrite(path); err != nil {
		return fail(fmt.Sprintf("DATA_DIR is not writable: %v", err), "make it belong to the user of bridged (65532 in the image), on a volume that is not read-only")
	}
	return ok("DATA_DIR is writable")
}

func room(path string) Finding {
	free, err := freeBytes(path)
	if err != nil {
		return warn(fmt.Sprintf("the free disk space is not known: %v", err), "make sure that there is 1 GB or more")
	}
	switch message := fmt.Sprintf("%.1f GB free", float64(free)/1e9); {
	case free < roomFails:
		return fail(message, "make room: without it nothing is stored, and messages wait at the network")
	case free < roomWarns:
		return warn(message, "make room, or bound what is kept with MEDIA_CACHE_BYTES and RETENTION_DAYS")
	default:
		return ok(message)
	}
}

// database checks a database unless a bridge uses it.
func database(ctx context.Context, dir, name string, inUse bool) Finding {
	path := filepath.Join(dir, name)
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return warn("there is no "+name+" yet", "nothing, if bridged was never started here. Otherwise correct DATA_DIR, or mount its volume")
	case err != nil:
		return fail(fmt.Sprintf("%s cannot be read: %v", name, err), "check owner and mode of the file")
	case inUse:
		return ok(fmt.Sprintf("%s, %.1f MB, is in use: the bridge checks it itself", name, float64(info.Size())/1e6))
	}
	err = dbfile.Check(ctx, path)
	switch message := fmt.Sprintf("%s, %.1f MB", name, float64(info.Size())/1e6); {
	case errors.Is(err, dbfile.ErrUnfinished):
		return ok(message + ": its last changes are in the log beside it, and the next start takes them over; not checked")
	case ctx.Err() != nil:
		return ok(message + ": too large to check now; the next start checks it")
	case err != nil:
		return fail(fmt.Sprintf("%s is damaged: %v", message, err), "put a backup in its place (docs/operations.md, Backups); without one, keep the file and report this")
	default:
		return ok(message + ": no damage")
	}
}
