package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"bridged/internal/bridge"
	"bridged/internal/dbfile"
)

// The bytes of free disk space below which there is trouble soon, or at once.
const (
	roomWarns = 1 << 30
	roomFails = 50 << 20
)

// DataDir checks the data directory and its room, and the databases in it unless a bridge
// runs, which checks them itself.
func DataDir(path string, runs func(context.Context) bool, databases ...dbfile.Database) Check {
	return Check{Name: "disk", Look: func(ctx context.Context) []Finding {
		if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
			return []Finding{warn("DATA_DIR does not exist yet", "nothing, if bridged was never started here: the first start makes it. Otherwise correct DATA_DIR, or mount its volume")}
		}
		if reason := dbfile.ExplainDir(path); reason != nil {
			return []Finding{unusable("", reason)}
		}
		inUse := runs(ctx)
		findings := []Finding{ok("DATA_DIR is writable"), room(path)}
		isUsed := func(d dbfile.Database) bool { _, err := os.Stat(filepath.Join(path, d.Name)); return err == nil }
		if sentence := dbfile.Exposed(path); sentence != "" && slices.ContainsFunc(databases, isUsed) { // a start has set the mode
			findings = append(findings, sentenced(Warn, sentence))
		}
		for _, d := range databases {
			findings = append(findings, database(ctx, path, d, inUse))
		}
		return findings
	}}
}

// unusable returns the finding of a file or directory that cannot be used, in the words of the start.
func unusable(about string, err error) Finding {
	if reason, is := errors.AsType[*bridge.Error](err); is {
		return sentenced(Fail, about+reason.Msg)
	}
	return fail(about+err.Error(), "check owner and mode of the file, and that its volume is mounted")
}

// sentenced returns the finding of a sentence that has its remedy after a colon.
func sentenced(verdict Verdict, sentence string) Finding {
	message, remedy, _ := strings.Cut(sentence, ": ")
	return Finding{Verdict: verdict, Message: message, Remedy: remedy}
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
func database(ctx context.Context, dir string, d dbfile.Database, inUse bool) Finding {
	path := filepath.Join(dir, d.Name)
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return warn("there is no "+d.Name+" yet", "nothing, if bridged was never started here. Otherwise correct DATA_DIR, or mount its volume")
	case err != nil:
		return unusable("", err)
	case inUse:
		return ok(fmt.Sprintf("%s, %.1f MB, is in use: the bridge checks it itself", d.Name, float64(info.Size())/1e6))
	}
	err = d.Examine(ctx, path)
	switch message := fmt.Sprintf("%s, %.1f MB", d.Name, float64(info.Size())/1e6); {
	case errors.Is(err, dbfile.ErrUnfinished):
		return ok(message + ": its last changes are in its write-ahead log, and the next start takes them over; not checked")
	case ctx.Err() != nil:
		return ok(message + ": too large to check now; the next start checks it")
	case err != nil:
		return unusable("", err)
	default:
		return ok(message + ": no damage")
	}
}
