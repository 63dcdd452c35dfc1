package harness

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/lockedfile"
)

var (
	// sources are the parts of the module that the program is built from.
	sources = []string{"go.mod", "go.sum", "cmd", "internal", "migrations"}
	// built are the files and directories among them that hashSources has read.
	built    []string
	statOnce sync.Once
)

// Bridged returns a command that runs the program. It also makes the cached results of "go test" depend
// on the program's sources: the testing package records the files that are opened or looked up while
// tests run, but not before them.
func Bridged(args ...string) *exec.Cmd {
	statOnce.Do(func() {
		for _, path := range built {
			_, _ = os.Stat(path) // hashSources has read it
		}
	})
	return exec.Command("bridged", args...)
}

// buildProgram puts a directory with bridged first in PATH. Linking takes longer than most tests,
// so all packages use one executable: it is stored in the user's cache directory under a hash of
// its sources. Under the race detector the program uses it, too.
func buildProgram() error {
	root, err := moduleRoot()
	if err != nil {
		return err
	}
	key, err := hashSources(root)
	if err != nil {
		return fmt.Errorf("hash the program's sources: %w", err)
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		cache = os.TempDir()
	}
	cache = filepath.Join(cache, "bridged-e2e")
	if err := os.MkdirAll(cache, 0o755); err != nil {
		return err
	}
	dir := filepath.Join(cache, key)
	if err := buildInto(root, cache, dir); err != nil {
		return fmt.Errorf("build the program: %w", err)
	}
	return os.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
}

// moduleRoot returns the directory of go.mod.
func moduleRoot() (string, error) {
	dir, err := os.Getwd()
	for ; err == nil; dir = filepath.Dir(dir) {
		if _, missing := os.Stat(filepath.Join(dir, "go.mod")); missing == nil || dir == filepath.Dir(dir) {
			return dir, missing
		}
	}
	return "", err
}

// hashSources returns a hash of the files that the program is built from, and of how.
func hashSources(root string) (string, error) {
	hash := sha256.New()
	fmt.Fprintln(hash, runtime.Version(), runtime.GOOS, runtime.GOARCH, linkerFlags, UnderRaceDetector, os.Getenv("GOFLAGS"), os.Getenv("CGO_ENABLED"))
	for _, part := range sources {
		err := filepath.WalkDir(filepath.Join(root, part), func(path string, entry fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case entry.IsDir() && (entry.Name() == "testdata" || entry.Name() == "e2e"):
				return filepath.SkipDir
			case strings.HasSuffix(path, "_test.go"):
				return nil
			}
			built = append(built, path)
			if entry.IsDir() { // its entry changes with the names in it
				return nil
			}
			file, err := os.Open(path)
			if err != nil {
				return err
			}
			defer file.Close()
			fmt.Fprintln(hash, path)
			_, err = io.Copy(hash, file)
			return err
		})
		if err != nil {
			return "", err
		}
	}
	return hex.EncodeToString(hash.Sum(nil))[:32], nil
}

// linkerFlags leave out what the released program does not have, either.
const linkerFlags = "-ldflags=-s -w"

// buildInto builds the program into a directory of the cache, unless it is there. It removes
// executables that no test has used for a day.
func buildInto(root, cache, dir string) error {
	unlock, err := lockedfile.MutexAt(filepath.Join(cache, "lock")).Lock()
	if err != nil {
		return err
	}
	defer unlock()
	now := time.Now()
	if err := os.Chtimes(dir, now, now); err == nil {
		return nil
	}
	entries, err := os.ReadDir(cache)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if info, err := entry.Info(); err == nil && entry.IsDir() && now.Sub(info.ModTime()) > 24*time.Hour {
			if err := os.RemoveAll(filepath.Join(cache, entry.Name())); err != nil {
				return err
			}
		}
	}
	temp, err := os.MkdirTemp(cache, "build-*")
	if err != nil {
		return err
	}
	args := []string{"build", "-buildvcs=false", linkerFlags, "-o", temp + string(filepath.Separator)}
	if UnderRaceDetector {
		args = append(args, "-race")
	}
	build := exec.Command("go", append(args, "./cmd/bridged")...)
	build.Dir = root
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("%w\n%s", err, out)
	}
	return os.Rename(temp, dir)
}

// WithFFmpeg returns the setting that names ffmpeg. The test is skipped if ffmpeg is not installed.
func WithFFmpeg(t testing.TB) string {
	t.Helper()
	program, err := exec.LookPath("ffmpeg")
	if err != nil {
		t.Skip("ffmpeg is not installed")
	}
	return "FFMPEG=" + program
}
