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
	"bridged/internal/media/disk"
)

// With fewer bytes of free disk space the doctor warns or fails.
const (
	freeWarns = 1 << 30
	freeFails = 50 << 20
)

// DataDir checks the data directory, its free space and its databases. A running bridge checks its
// databases itself, so they are then only measured.
func DataDir(path string, isRunning func(context.Context) bool, databases ...dbfile.Database) Check {
	return Check{Name: "disk", Look: func(ctx context.Context) []Finding {
		if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
			return []Finding{warn("DATA_DIR does not exist yet", "nothing, if bridged was never started here: the first start creates it. Otherwise correct DATA_DIR, or mount its volume")}
		}
		if reason := dbfile.ExplainDir(path); reason != nil {
			return []Finding{unusable("", reason)}
		}
		inUse := isRunning(ctx)
		findings := []Finding{ok("DATA_DIR is writable"), freeSpace(path)}
		isUsed := func(d dbfile.Database) bool { _, err := os.Stat(filepath.Join(path, d.Name)); return err == nil }
		if sentence := dbfile.Exposed(path); sentence != "" && slices.ContainsFunc(databases, isUsed) { // a start has set the mode
			findings = append(findings, split(Warn, sentence))
		}
		for _, d := range databases {
			findings = append(findings, database(ctx, path, d, inUse))
		}
		return findings
	}}
}

// unusable returns the finding of a file or directory that cannot be used, with the sentence that a start
// of the bridge prints.
func unusable(about string, err error) Finding {
	if reason, ok := errors.AsType[*bridge.Error](err); ok {
		return split(Fail, about+reason.Msg)
	}
	return fail(about+err.Error(), "check owner and mode of the file, and that its volume is mounted")
}

// split returns the finding of a sentence that has its remedy after a colon.
func split(verdict Verdict, sentence string) Finding {
	message, remedy, _ := strings.Cut(sentence, ": ")
	return Finding{Verdict: verdict, Message: message, Remedy: remedy}
}

func freeSpace(path string) Finding {
	free, _, err := disk.Free(path)
	if err != nil {
		return warn(fmt.Sprintf("cannot read the free disk space: %v", err), "make sure that 1 GB or more is free")
	}
	switch message := fmt.Sprintf("%.1f GB free", float64(free)/1e9); {
	case free < freeFails:
		return fail(message, "free some space: until then nothing is stored, and messages wait at the network")
	case free < freeWarns:
		return warn(message, "free some space, or store less with MEDIA_CACHE_BYTES and RETENTION_DAYS")
	default:
		return ok(message)
	}
}

// database checks a database, unless a bridge uses it.
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
		return ok(message + ": not checked, because its last changes are in its write-ahead log; the next start applies them")
	case ctx.Err() != nil:
		return ok(message + ": not checked, because it is too large; the next start checks it")
	case err != nil:
		return unusable("", err)
	default:
		return ok(message + ": no damage")
	}
}
