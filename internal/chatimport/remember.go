package chatimport

import (
	"context"
	"slices"
	"time"

	"bridged/internal/bridge"
	"bridged/internal/intake"
)

// Limits of the imports in memory, of all callers and of one token tree except BRIDGE_TOKEN's: their number, and the bytes of
// their lines and names.
const (
	maxJobs       = 100
	maxJobsOfTree = 50
	maxSize       = 8 << 20
	maxSizeOfTree = 2 << 20
	minSize       = 1 << 10 // of an import without lines and names
)

// announce calls Options.Progress, unless an import is a dry run.
func (i *Importer) announce(imp bridge.Import) {
	if i.o.Progress != nil && !imp.DryRun {
		i.o.Progress(imp.ChatJID, imp.Progress())
	}
}

// hundredths is the number of hundredths of a job that were announced.
type hundredths int

// grow reports whether another hundredth is done.
func (h *hundredths) grow(done, total int) bool {
	now := hundredths(done * 100 / max(total, 1))
	grown := now > *h
	*h = max(now, *h)
	return grown
}

func (i *Importer) remember(j *job) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.jobs = append(i.jobs, j)
}

// forget measures an import that has just ended, and removes the oldest ended imports until the others are within the limits.
func (i *Importer) forget(ended *job) {
	state := ended.now()
	i.mu.Lock()
	defer i.mu.Unlock()
	ended.size = minSize
	for _, name := range state.UnknownNames {
		ended.size += len(name) + 16
	}
	for _, line := range state.Doubtful {
		ended.size += len(line.Text) + len(line.Why) + 64
	}
	if ended.tree != intake.Operator {
		i.drop(ended, maxJobsOfTree, maxSizeOfTree, func(j *job) bool { return j.tree == ended.tree })
	}
	i.drop(ended, maxJobs, maxSize, func(*job) bool { return true })
}

// drop removes the oldest of some imports, but not the last one, until at most count imports with size bytes are left. The
// caller holds mu.
func (i *Importer) drop(last *job, count, size int, among func(*job) bool) {
	for _, j := range i.jobs {
		if among(j) {
			count, size = count-1, size-j.size
		}
	}
	i.jobs = slices.DeleteFunc(i.jobs, func(j *job) bool {
		if count >= 0 && size >= 0 || j == last || !among(j) || j.size == 0 { // running imports have no size
			return false
		}
		count, size = count+1, size+j.size
		return true
	})
}

// Wait waits until an import has ended, but not longer than most, and returns it.
func (i *Importer) Wait(ctx context.Context, id string, most time.Duration) (bridge.Import, error) {
	j, err := i.find(id)
	if err != nil {
		return bridge.Import{}, err
	}
	timer := time.NewTimer(most)
	defer timer.Stop()
	select {
	case <-j.done:
		if j.failed != nil {
			return j.now(), j.failed
		}
	case <-timer.C:
	case <-ctx.Done():
		return bridge.Import{}, ctx.Err()
	}
	return j.now(), nil
}

// Cancel ends a running import, and returns it after it has ended. Its stored messages stay. The errors are
// [bridge.CodeNotFound], [bridge.CodeImportEnded] if it is not running, and the error of ctx.
func (i *Importer) Cancel(ctx context.Context, id string) (bridge.Import, error) {
	j, err := i.find(id)
	if err != nil {
		return bridge.Import{}, err
	}
	if state := j.now().State; state != bridge.ImportRunning {
		return bridge.Import{}, bridge.Fail(bridge.CodeImportEnded, "the import has ended already (state %s): only one that is running can be cancelled", state)
	}
	j.end(errCancelled)
	select {
	case <-j.done:
		return j.now(), nil
	case <-ctx.Done():
		return bridge.Import{}, ctx.Err()
	}
}

// Leave ends a running import whose caller left before the answer.
func (i *Importer) Leave(id string) {
	if j, err := i.find(id); err == nil {
		j.end(errCancelled)
	}
}

// Ended returns a context that ends with an import.
func (i *Importer) Ended(id string) context.Context {
	if j, err := i.find(id); err == nil {
		return j.ctx
	}
	ended, end := context.WithCancel(context.Background())
	end()
	return ended
}

func (i *Importer) find(id string) (*job, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	for _, j := range i.jobs {
		if j.state.ID == id {
			return j, nil
		}
	}
	return nil, bridge.NoImport(id)
}
