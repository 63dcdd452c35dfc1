package operations

import (
	"os"
	"os/exec"
	"runtime"
	"testing"

	. "bridged/internal/e2e/harness"
)

// maxExecutable bounds the size of the released program in bytes. It is no goal: a sudden
// growth mostly comes from a dependency that looks methods up by name (reflect's
// MethodByName), for which the linker keeps every exported method of the program.
// go build -ldflags=-dumpdep marks such functions with <ReflectMethod>.
const maxExecutable = 51_000_000

func TestExecutable_HasNotGrownSuddenly(t *testing.T) {
	if runtime.GOARCH != "amd64" || runtime.GOOS != "linux" || UnderRaceDetector {
		t.Skip("the limit is that of linux/amd64")
	}
	info := Must(os.Stat(Must(exec.LookPath("bridged"))(t)))(t)
	if info.Size() > maxExecutable {
		t.Errorf("the executable has %d bytes, at most %d are expected", info.Size(), maxExecutable)
	}
}
