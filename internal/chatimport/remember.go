package chatimport

import (
	"context"
	"slices"
	"time"

	"bridged/internal/bridge"
	"bridged/internal/intake"
)

// Limits of the imports that are remembered until the process ends, of all callers, and of one token
// tree but BRIDGE_TOKEN's: their number, and the bytes of their lines and names.
const (
	maxJobs           = 100
	maxJobsOfOne      = 50
	maxRemembered     = 8 << 20
	maxRememberedOne  = 2 << 20
	rememberedAtLeast = 1 << 10 // bytes of an import without lines and names
)

func (i *Importer) remember(j *job) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.jobs = append(i.jobs, j)
}

// forget drops the oldest imports that have ended until the others are within the limits. The last one
// is ended, which is measured now.
func (i *Importer) forget(ended *job) {
	state := ended.now()
	i.mu.Lock()
	defer i.mu.Unlock()
	ended.size = rememberedAtLeast
	for _, name := range state.UnknownNames {
		ended.size += len(name) + 16
	}
	for _, doubt := range state.Doubtful {
		ended.size += len(doubt.Text) + len(doubt.Why) + 64
	}
	if ended.family != intake.Operator {
		i.drop(ended, maxJobsOfOne, maxRememberedOne, func(j *job) bool { return j.family == ended.family })
	}
	i.drop(ended, maxJobs, maxRemembered, func(*job) bool { return true })
}

// drop drops the oldest imports among some but the last one, until so many and so many bytes are left.
// The caller holds mu.
func (i *Importer) drop(last *job, count, size int, among func(*job) bool) {
	for _, j := range i.jobs {
		if among(j) {
			count, size = count-1, size-j.size
		}
	}
	i.jobs = slices.DeleteFunc(i.jobs, func(j *job) bool {
		if count >= 0 && size >= 0 || j == last || !among(j) || j.size == 0 { // a running one has no size yet
			return false
		}
		count, size = count+1, size+j.size
		return true
	})
}

// Wait waits until an import has ended, or for so long, and returns it.
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

// Cancel ends an import that is running, and returns it once it has ended: what it has stored stays.
// Its errors are [bridge.CodeNotFound], [bridge.CodeImportEnded] for one that has ended already, and
// that of ctx.
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

// Leave ends an import whose caller left before it was answered, if it is running.
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
