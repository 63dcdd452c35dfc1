package wa

import "sync"

// receipts tells sends of the receipts that come for their messages: one of a
// recipient proves that a message is out whose acknowledgement has not come.
type receipts struct {
	mu      sync.Mutex
	waiting map[string]func() // what to call, by the message's id; guarded by mu
}

// await has came called with each receipt for a message, until done is called.
func (r *receipts) await(id string, came func()) (done func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.waiting == nil {
		r.waiting = make(map[string]func())
	}
	r.waiting[id] = came
	return func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		delete(r.waiting, id)
	}
}

// tell calls what waits for receipts of these messages. They are stored.
func (r *receipts) tell(ids []string) {
	for _, id := range ids {
		r.mu.Lock()
		came := r.waiting[id]
		r.mu.Unlock()
		if came != nil {
			came()
		}
	}
}
