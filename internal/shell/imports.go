package shell

import (
	"context"
	"fmt"
	"strconv"

	"bridged/internal/bridge"
)

// Imports prints the imports of exported chats, the newest first; limit 0 is all of them.
func (s *Shell) Imports(ctx context.Context, limit int) error {
	imports := s.API.AllImports(ctx, bridge.ImportQuery{Limit: pageOf(limit)})
	columns := []column{{title: "ID"}, {title: "STARTED"}, {title: "BY", most: 24}, {title: "STATE"}, {title: "CHAT"}, {title: "FILE", most: 32, flexible: true}, {title: "ZONE"}, {title: "IMPORTED"}, {title: "ALREADY"}, {title: "FILES"}}
	return list(s, imports, limit, "There are no imports.", columns, func(i bridge.Import) []string {
		by := ""
		if i.By != nil {
			by = i.By.Name
		}
		return []string{
			i.ID, s.when(&i.StartedAt), by, string(i.State), string(i.ChatJID), i.FileName, i.Timezone,
			strconv.Itoa(i.Imported), strconv.Itoa(i.Duplicates), strconv.Itoa(i.Media),
		}
	})
}

// EndImport cancels an import that is running, or undoes one that has ended, and waits for the end.
func (s *Shell) EndImport(ctx context.Context, id string, undo bool) error {
	imp, err := s.API.Import(ctx, id)
	switch isRunning := imp.State == bridge.ImportRunning; {
	case err != nil:
		return err
	case undo && isRunning:
		return hinted(fmt.Errorf("the import is still running"), "cancel it first: bridged imports cancel %s", id)
	case !undo && !isRunning:
		return hinted(fmt.Errorf("the import has ended already (state %s)", imp.State), "undo it: bridged imports undo %s", id)
	}
	imp, err = s.API.EndImport(ctx, id, false)
	for err == nil && imp.State == bridge.ImportUndoing {
		if err := s.note("%d messages removed …", imp.Removed); err != nil {
			return err
		}
		if !bridge.Sleep(ctx, importPause) {
			return ctx.Err()
		}
		imp, err = s.API.Import(ctx, id)
	}
	switch {
	case err != nil:
		return err
	case s.JSON:
		return s.printJSON(imp)
	case undo:
		return s.print("Undone: removed %s from %s.\n", bridge.Counted(imp.Removed, "message"), imp.ChatJID)
	}
	return s.print("Cancelled: %d of %d messages are stored in %s. To remove them: bridged imports undo %s\n", imp.Imported, imp.Total, imp.ChatJID, imp.ID)
}
