package operations

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
)

// maxExecutable bounds the size of the released program in bytes. It is no goal: a sudden
// growth mostly comes from a dependency that looks methods up by name (reflect's
// MethodByName), for which the linker keeps every exported method of the program.
// go build -ldflags=-dumpdep marks such functions with <ReflectMethod>.
const maxExecutable = 48_000_000

func TestExecutable_HasNotGrownSuddenly(t *testing.T) {
	t.Parallel()
	if runtime.GOARCH != "amd64" || runtime.GOOS != "linux" {
		t.Skip("the limit is that of linux/amd64")
	}
	path := filepath.Join(t.TempDir(), "bridged")
	build := exec.Command("go", "build", "-buildvcs=false", "-trimpath", "-ldflags=-s -w", "-o", path, "bridged/cmd/bridged")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if info.Size() > maxExecutable {
		t.Errorf("the executable has %d bytes, at most %d are expected", info.Size(), maxExecutable)
	}
}
