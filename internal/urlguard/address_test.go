package urlguard

import (
	"net/netip"
	"testing"

	"bridged/internal/fuzzbudget"
)

// plainlyPublic is a second opinion, from the standard library and a few ranges,
// that the guard must never be laxer than.
func plainlyPublic(addr netip.Addr) bool {
	addr = addr.Unmap()
	if addr.Is6() && netip.MustParsePrefix("64:ff9b::/96").Contains(addr) {
		b := addr.As16()
		return plainlyPublic(netip.AddrFrom4([4]byte(b[12:])))
	}
	for _, p := range []string{
		"0.0.0.0/8", "100.64.0.0/10", "192.0.0.0/24", "192.0.2.0/24", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "240.0.0.0/4",
		"::/3", "4000::/2", "8000::/1", "2001:db8::/32", "2002::/16", "2001::/32",
	} {
		if netip.MustParsePrefix(p).Contains(addr) {
			return false
		}
	}
	return addr.IsGlobalUnicast() && !addr.IsPrivate() && !addr.IsLoopback() && addr.Zone() == ""
}

// TestPermits_EdgesOfTheRegistries walks the first and the last address of every
// range, and their neighbours outside.
func TestPermits_EdgesOfTheRegistries(t *testing.T) {
	edges := []struct{ before, first, last, after string }{
		{"", "0.0.0.0", "0.255.255.255", "1.0.0.0"},
		{"9.255.255.255", "10.0.0.0", "10.255.255.255", "11.0.0.0"},
		{"100.63.255.255", "100.64.0.0", "100.127.255.255", "100.128.0.0"},
		{"126.255.255.255", "127.0.0.0", "127.255.255.255", "128.0.0.0"},
		{"168.63.129.15", "168.63.129.16", "168.63.129.16", "168.63.129.17"},
		{"169.253.255.255", "169.254.0.0", "169.254.255.255", "169.255.0.0"},
		{"172.15.255.255", "172.16.0.0", "172.31.255.255", "172.32.0.0"},
		{"191.255.255.255", "192.0.0.0", "192.0.0.255", "192.0.1.0"},
		{"192.0.1.255", "192.0.2.0", "192.0.2.255", "192.0.3.0"},
		{"192.88.98.255", "192.88.99.0", "192.88.99.255", "192.88.100.0"},
		{"192.167.255.255", "192.168.0.0", "192.168.255.255", "192.169.0.0"},
		{"198.17.255.255", "198.18.0.0", "198.19.255.255", "198.20.0.0"},
		{"198.51.99.255", "198.51.100.0", "198.51.100.255", "198.51.101.0"},
		{"203.0.112.255", "203.0.113.0", "203.0.113.255", "203.0.114.0"},
		{"223.255.255.255", "224.0.0.0", "255.255.255.255", ""},
		{"", "::", "1fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "2000::"},
		{"2000:ffff::", "2001::", "2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff", "2001:200::"},
		{"2001:db7::", "2001:db8::", "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff", "2001:db9::"},
		{"2001:ffff::", "2002::", "2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "2003::"},
		{"3ffe::", "3fff::", "3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff", "3fff:1000::"},
		{"3fff:ffff::", "4000::", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", ""},
	}
	g := New(Options{})
	for _, e := range edges {
		for _, text := range []string{e.first, e.last} {
			if addr := netip.MustParseAddr(text); g.permits(addr) {
				t.Errorf("%s is permitted", addr)
			}
		}
		for _, text := range []string{e.before, e.after} {
			if text != "" && !g.permits(netip.MustParseAddr(text)) {
				t.Errorf("%s is refused", text)
			}
		}
	}
}

func TestPermits_JudgesTranslatedFormsByWhatTheyContain(t *testing.T) {
	g := New(Options{})
	for _, private := range []string{"127.0.0.1", "10.0.0.1", "192.168.0.1", "172.20.0.1", "169.254.169.254", "168.63.129.16", "0.0.0.0"} {
		for _, form := range []string{"::ffff:", "64:ff9b::", "2606:4700::5efe:", "2606:4700::200:5efe:", "::", "::ffff:0:", "64:ff9b:1::"} {
			if g.permits(netip.MustParseAddr(form + private)) {
				t.Errorf("%s%s is permitted", form, private)
			}
		}
	}
	for _, form := range []string{"::ffff:", "64:ff9b::", "2606:4700::5efe:", "2606:4700::200:5efe:"} {
		if !g.permits(netip.MustParseAddr(form + "8.8.8.8")) {
			t.Errorf("%s8.8.8.8 is refused", form)
		}
	}
}

func TestPermits_RefusesZonesAndNothing(t *testing.T) {
	g := New(Options{AllowPrefixes: []netip.Prefix{netip.MustParsePrefix("::/0")}})
	if g.permits(netip.MustParseAddr("2606:4700::1%eth0")) {
		t.Error("a zone is permitted")
	}
	if g.permits(netip.Addr{}) {
		t.Error("no address at all is permitted")
	}
}

func TestPermits_ExceptionsAreExact(t *testing.T) {
	g := New(Options{AllowPrefixes: []netip.Prefix{netip.MustParsePrefix("127.0.0.2/32"), netip.MustParsePrefix("::1/128"), {}}})
	for _, text := range []string{"127.0.0.2", "::ffff:127.0.0.2", "::1"} {
		if !g.permits(netip.MustParseAddr(text)) {
			t.Errorf("%s is refused", text)
		}
	}
	for _, text := range []string{"127.0.0.1", "127.0.0.3", "::", "::2", "10.0.0.1", "fe80::1"} {
		if g.permits(netip.MustParseAddr(text)) {
			t.Errorf("%s is permitted", text)
		}
	}
}

func FuzzPermits(f *testing.F) {
	for _, text := range []string{"127.0.0.1", "8.8.8.8", "::1", "::ffff:10.0.0.1", "64:ff9b::7f00:1", "2002:7f00:1::", "2606:4700::1", "fe80::1", "3fff::1"} {
		b := netip.MustParseAddr(text).AsSlice()
		f.Add(b)
	}
	g := New(Options{})
	f.Fuzz(func(t *testing.T, b []byte) {
		fuzzbudget.Usual.Check(t, len(b), func() {
			addr, ok := netip.AddrFromSlice(b)
			if !ok {
				return
			}
			if g.permits(addr) && !plainlyPublic(addr) {
				t.Fatalf("%s is permitted", addr)
			}
			if err := g.control("tcp6", netip.AddrPortFrom(addr, 80).String(), nil); err == nil && !plainlyPublic(addr) {
				t.Fatalf("%s would be dialled", addr)
			}
		})
	})
}
