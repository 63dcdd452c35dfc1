package front

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
)

// A connection that was evicted in the moment in which its request was whole
// has told its caller that nothing happened: nothing happens.
func TestConnections_NothingIsDoneForThoseDisplaced(t *testing.T) {
	connections := NewConnections(MinConnections)
	here, there := net.Pipe()
	defer here.Close()
	first := connections.admit(there)
	for range connections.unauthenticated.limit {
		a, b := net.Pipe()
		defer a.Close()
		defer b.Close()
		connections.admit(b)
	}
	connections.state(first, http.StateActive)
	defer func() {
		if cause := recover(); cause != http.ErrAbortHandler {
			t.Errorf("ended with %v", cause)
		}
	}()
	r := httptest.NewRequestWithContext(withConn(context.Background(), first), http.MethodPost, "/", nil)
	withSlots(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("handled") })).ServeHTTP(httptest.NewRecorder(), r)
}
