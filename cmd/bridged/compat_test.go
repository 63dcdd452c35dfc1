package main

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"testing"
)

// A listener of COMPAT_LISTEN serves its API. The same port of the machine's other addresses does not.
func TestAdapters_AnswerAtTheirAddressAlone(t *testing.T) {
	answering := func(text string) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, text) })
	}
	tcp := func(address string) *net.TCPAddr { return net.TCPAddrFromAddrPort(netip.MustParseAddrPort(address)) }
	handler := byAddress(map[netip.AddrPort]http.Handler{
		boundAddress(tcp("127.0.0.1:8080")): answering("one"), boundAddress(tcp("[::]:8081")): answering("any"), boundAddress(tcp("[fe80::1%eth0]:8082")): answering("zone"),
	}, answering("the bridge"))
	for at, want := range map[string]string{
		"127.0.0.1:8080": "one", "[::ffff:127.0.0.1]:8080": "one", "192.0.2.7:8080": "the bridge", "192.0.2.7:8081": "any", "[2001:db8::1]:8081": "any",
		"[fe80::1%eth0]:8082": "zone", "127.0.0.1:8083": "the bridge",
	} {
		r := httptest.NewRequest(http.MethodGet, "/", http.NoBody)
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), http.LocalAddrContextKey, net.Addr(tcp(at)))))
		if w.Body.String() != want {
			t.Errorf("%s serves %s, want %s", at, w.Body, want)
		}
	}
}
