package front

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"testing"

	"bridged/internal/bridge"
)

// crowd is a number of connections whose requests say in a header whose they are.
type crowd struct {
	t           *testing.T
	connections *Connections
}

func newCrowd(t *testing.T, limit int) crowd {
	connections := NewConnections(limit)
	connections.callers = func(r *http.Request) (int64, bool) {
		tree, err := strconv.ParseInt(r.Header.Get("Tree"), 10, 64)
		return tree, err == nil
	}
	return crowd{t, connections}
}

// call opens a connection and makes a request that does not end. If tree is negative, it is
// unauthenticated.
func (c crowd) call(tree int64) (*conn, *http.Request, *bridge.Error) {
	here, there := net.Pipe()
	c.t.Cleanup(func() { here.Close(); there.Close() })
	conn := c.connections.admit(there)
	r := httptest.NewRequestWithContext(withConn(context.Background(), conn), http.MethodGet, "/", nil)
	if tree >= 0 {
		r.Header.Set("Tree", strconv.FormatInt(tree, 10))
	}
	isOpen, err := c.connections.assignSlot(conn, r)
	if !isOpen {
		c.t.Error("a new connection was evicted")
	}
	return conn, r, err
}

// calls makes many calls, and returns the connections of those that were taken.
func (c crowd) calls(count int, tree int64) (taken []*conn) {
	for range count {
		if conn, _, err := c.call(tree); err == nil {
			taken = append(taken, conn)
		}
	}
	return taken
}

// streams opens many streams, and returns those that were taken.
func (c crowd) streams(count int, tree int64) (taken []*conn) {
	for range count {
		if conn, r, err := c.call(tree); err == nil && CountStream(r) == nil {
			taken = append(taken, conn)
		} else {
			c.connections.state(conn, http.StateClosed)
		}
	}
	return taken
}

func (c crowd) wantTaken(what string, taken []*conn, want int) {
	c.t.Helper()
	if len(taken) != want {
		c.t.Errorf("%s: %d are taken, want %d", what, len(taken), want)
	}
}

func (c crowd) wantLeft(what string, conns []*conn, want int) {
	c.t.Helper()
	left := 0
	for _, conn := range conns {
		if !conn.gone {
			left++
		}
	}
	if left != want {
		c.t.Errorf("%s: %d are left, want %d", what, left, want)
	}
}

// A token tree has at most half of the slots, a quarter of them only for calls. The operator and other
// tokens always get slots.
func TestQuotas_OneTokenKeepsNobodyOut(t *testing.T) {
	c := newCrowd(t, 64) // 48 of them for known callers
	streams := c.streams(48, 7)
	c.wantTaken("streams of one token", streams, 18)
	c.wantTaken("its calls", c.calls(20, 7), 6)
	c.wantTaken("calls of another", c.calls(12, 8), 12)
	c.wantTaken("calls of a third", c.calls(10, 9), 10) // streams of the first are evicted for them
	c.wantLeft("streams", streams, 8)
	c.wantTaken("calls of the operator", c.calls(30, 0), 20)
	c.wantLeft("streams", streams, 0)
}

// The operator has slots that no number of tokens can take, and its streams are not evicted.
func TestQuotas_TheOperatorHasAReserve(t *testing.T) {
	c := newCrowd(t, 64)
	taken := 0
	for tree := range int64(20) {
		taken += len(c.calls(20, tree+1))
	}
	if taken != 36 {
		t.Errorf("%d calls of tokens are taken, want 36", taken)
	}
	c.wantTaken("calls of the operator", c.calls(20, 0), 12)

	c = newCrowd(t, 64)
	streams := c.streams(60, 0)
	c.wantTaken("streams of the operator", streams, 36)
	c.wantTaken("its calls", c.calls(20, 0), 12)
	c.wantTaken("calls of a token", c.calls(5, 7), 0)
	c.wantLeft("streams", streams, 36)
}

// Tokens whose streams are as many as each other's do not take turns in cutting
// them off.
func TestQuotas_EqualsLeaveEachOtherAlone(t *testing.T) {
	c := newCrowd(t, 64)
	first, second := c.streams(18, 7), c.streams(18, 8)
	c.wantTaken("a third token's streams", c.streams(40, 9), 12)
	c.wantLeft("the first token's", first, 12)
	c.wantLeft("the second token's", second, 12)
}

// A connection is charged to whose its last request was: proxies share theirs
// among callers.
func TestQuotas_FollowTheRequests(t *testing.T) {
	c := newCrowd(t, 64)
	conn, r, _ := c.call(7)
	for _, tree := range []string{"8", "0", "", "9", ""} {
		r.Header.Set("Tree", tree)
		c.connections.state(conn, http.StateIdle)
		c.connections.state(conn, http.StateActive)
		if isOpen, err := c.connections.assignSlot(conn, r); !isOpen || err != nil {
			t.Fatalf("%v, %v", isOpen, err)
		}
		known, unauthenticated := c.connections.known.open, c.connections.unauthenticated.open
		if known+unauthenticated != 1 || (known == 1) != (tree != "") || len(c.connections.trees) != known || (c.connections.others == 1) != (tree > "0") {
			t.Errorf("after %q: %d known, %d of others, %d unauthenticated, %d trees", tree, known, c.connections.others, unauthenticated, len(c.connections.trees))
		}
	}
	c.connections.state(conn, http.StateClosed)
	if c.connections.unauthenticated.open != 0 {
		t.Error("it is still counted")
	}
}

// Unauthenticated connections that send no body, or do not read their answers, are evicted for new
// ones.
func TestQuotas_UnauthenticatedCallersAreEvicted(t *testing.T) {
	c := newCrowd(t, 64) // 16 of them for unauthenticated
	c.wantTaken("unauthenticated that are answered", c.calls(100, -1), 8)
	c.wantTaken("calls of the operator", c.calls(48, 0), 48)
}
