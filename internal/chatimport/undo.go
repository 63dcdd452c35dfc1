package chatimport

import (
	"context"
	"errors"
	"slices"
	"time"

	"bridged/internal/bridge"
	"bridged/internal/store"
)

// undoRetry is the pause after a failure, such as a full disk.
const undoRetry = time.Minute

// resume marks the imports that the end of the process has interrupted as failed, and resumes undoing.
func (i *Importer) resume(ctx context.Context) error {
	undoing, err := i.o.Store.FailImports(ctx, interrupted)
	for _, one := range undoing {
		i.undo(one)
	}
	return err
}

// interrupted is the error text of an import that the end of the process has interrupted.
const interrupted = "the bridge was stopped before the import was done: import the chat again, which stores the rest"

// Undo starts removing the messages and files that only an import has stored. It runs in the background and resumes after a
// restart. The errors are [bridge.CodeNotFound], and [bridge.CodeImportEnded] for a dry run.
func (i *Importer) Undo(ctx context.Context, id string) error {
	if j, err := i.find(id); err == nil && j.state.DryRun {
		return bridge.Fail(bridge.CodeImportEnded, "the dry run has ended already, and it has stored nothing")
	}
	imp, err := i.o.Store.Import(ctx, id)
	if err != nil || imp.State == bridge.ImportUndone {
		return err
	}
	if err := i.o.Store.BeginUndo(ctx, imp.Seq); err != nil {
		return err
	}
	imp.State = bridge.ImportUndoing
	i.announce(imp.Import)
	i.undo(imp)
	return nil
}

// undo undoes an import in the background, when no import runs into its chat.
func (i *Importer) undo(imp store.ImportRecord) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.undoing[imp.ID] != nil {
		return
	}
	done := make(chan struct{})
	i.undoing[imp.ID] = done
	i.work.Go(func() {
		defer func() {
			i.mu.Lock()
			defer i.mu.Unlock()
			delete(i.undoing, imp.ID)
			i.jobs = slices.DeleteFunc(i.jobs, func(j *job) bool { return j.state.ID == imp.ID }) // they have texts of the export
			close(done)
		}()
		i.undoAll(imp)
	})
}

func (i *Importer) undoAll(imp store.ImportRecord) {
	ctx := i.o.Lifetime
	if i.lockChat(ctx, imp.ChatJID) != nil {
		return
	}
	defer i.unlockChat(imp.ChatJID)
	began, announced := time.Now(), hundredths(0)
	announce := func(mustGrow bool) {
		now, err := i.o.Store.Import(ctx, imp.ID)
		if err == nil && (announced.grow(now.Removed, now.Imported) || !mustGrow) {
			i.announce(now.Import)
		}
	}
	for {
		err := i.o.Store.UndoImport(ctx, imp, func() { announce(true) })
		switch {
		case err == nil:
			announce(false)
			i.o.Log.Info().Str("chat", imp.ChatJID.Redacted()).Dur("took", time.Since(began)).Msg("chat import undone")
			return
		case ctx.Err() != nil: // the next start continues
			return
		}
		i.o.Log.Error().Err(err).Msg("cannot undo a chat import, trying again in a minute")
		if !bridge.Sleep(ctx, undoRetry) {
			return
		}
	}
}

// WaitUndone waits until an import is undone, but not longer than most, and returns it.
func (i *Importer) WaitUndone(ctx context.Context, id string, most time.Duration) (bridge.Import, error) {
	i.mu.Lock()
	done := i.undoing[id]
	i.mu.Unlock()
	if done != nil {
		timer := time.NewTimer(most)
		defer timer.Stop()
		select {
		case <-done:
		case <-timer.C:
		case <-ctx.Done():
			return bridge.Import{}, ctx.Err()
		}
	}
	imp, err := i.o.Store.Import(ctx, id)
	return imp.Import, err
}

// Imports lists imports, the newest first, with the current numbers of running ones.
func (i *Importer) Imports(ctx context.Context, q bridge.ImportQuery) (bridge.Page[bridge.Import], error) {
	page, err := i.o.Store.Imports(ctx, q)
	for n := range page.Items {
		page.Items[n] = i.remembered(page.Items[n])
	}
	return page, err
}

// remembered adds the lists that are only in memory to a stored import.
func (i *Importer) remembered(imp bridge.Import) bridge.Import {
	j, err := i.find(imp.ID)
	if err != nil || imp.State == bridge.ImportUndone {
		return imp
	}
	now := j.now()
	imp.Doubtful, imp.UnknownNames = now.Doubtful, now.UnknownNames
	return imp
}

// Import returns an import. The error is [bridge.CodeNotFound] if its id is unknown.
func (i *Importer) Import(ctx context.Context, id string) (bridge.Import, error) {
	if j, err := i.find(id); err == nil && (j.state.DryRun || j.now().State == bridge.ImportRunning) {
		return j.now(), nil
	}
	imp, err := i.o.Store.Import(ctx, id)
	if err == nil && imp.State != bridge.ImportUndoing && imp.State != bridge.ImportUndone {
		var count int
		count, err = i.o.Store.Removable(ctx, imp.Seq)
		imp.Removable = &count
	}
	return i.remembered(imp.Import), err
}

// addImport stores a new import, unless it is a dry run.
func (i *Importer) addImport(ctx context.Context, j *job) (err error) {
	if j.r.DryRun {
		return nil
	}
	j.seq, err = i.o.Store.AddImport(ctx, store.ImportRecord{Import: j.now(), Tree: j.tree})
	return err
}

// storeEnd stores the final state of an import. If the store is closed, the next start marks it as failed.
func (j *job) storeEnd() {
	if j.seq == 0 {
		return
	}
	err := j.i.o.Store.EndImport(context.Background(), j.seq, j.now())
	if err != nil && !errors.Is(j.cause(), errStopped) {
		j.i.o.Log.Error().Err(err).Msg("cannot store the end of a chat import")
	}
}
