package storefile

import (
	"errors"

	"bridged/internal/sqlite"
)

// holdScheduled marks the scheduled messages of a copy that nothing else uses as held: those that the original
// sends in the meantime must not be sent again by a restored copy. A caller decides about each.
func holdScheduled(path string) (err error) {
	c, err := sqlite.Open(path, []string{"journal_mode(off)", "secure_delete(on)"})
	if err != nil {
		return Explain(err)
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	return Explain(c.Script(`
		UPDATE scheduled SET status = 'held', error = json_object('code', 'restored', 'error',
			'the store was restored from a backup, and the message may have been sent since: look in the chat, then give it a new time, send it now or cancel it')
		WHERE status IN ('scheduled', 'sending')`))
}
