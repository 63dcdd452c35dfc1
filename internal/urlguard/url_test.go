package urlguard

import (
	"context"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/text/unicode/norm"

	"bridged/internal/fuzzbudget"
)

func TestCheck_PermitsPublicURLs(t *testing.T) {
	for _, raw := range []string{
		"http://example.com/",
		"https://example.com",
		"HTTPS://Example.COM/Photo.JPG?size=large&token=abc#top",
		"https://example.com./a",
		"https://example.com:8443/a",
		"http://example.com:1/",
		"http://example.com:65535/",
		"http://example.com:/",
		"https://files_1.example-host.com/a b.pdf",
		"https://rr3---sn-4g5e6nze.example.com/x",
		"https://example.com/path%20with%2Fescapes/%E2%82%AC?u=http://127.0.0.1/",
		"https://example.com/@user:password",
		"https://bücher.example.com/a",
		"https://straße.de/",
		"https://例え.テスト/",
		"https://xn--bcher-kva.example.com/a",
		"https://localhost.example.com/",
		"https://notlocalhost.com/",
		"https://0xcafe.example.com/",
		"https://10.0.0.1.example.com/",
		"http://8.8.8.8/",
		"http://172.15.255.255/", "http://172.32.0.0/", "http://11.0.0.0/", "http://192.167.255.255/",
		"http://[2606:4700:4700::1111]/",
		"http://[2606:4700:4700::1111]:8080/",
		"http://[::ffff:8.8.8.8]/",
		"http://[64:ff9b::8.8.8.8]/",
	} {
		if err := New(Options{}).Check(raw); err != nil {
			t.Errorf("%s: %v", raw, err)
		}
	}
}

const (
	saysNotPublic = "does not lead to a public address"
	saysPlainQuad = "must be written as four plain decimal numbers"
	saysPlainly   = "must be written plainly"
	saysLookAlike = "look-alike characters"
	saysBadName   = "not a valid name"
	saysMalformed = "malformed"
	saysScheme    = "only http and https"
	saysNoHost    = "names no host"
	saysUser      = "user name or password"
	saysPort      = "the port must be between 1 and 65535"
)

// refusedURLs is used twice: here, and by the canary with its own port.
func refusedURLs() map[string][]string {
	return map[string][]string{
		saysNotPublic: {
			"http://127.0.0.1/", "http://127.255.255.254/", "http://0.0.0.0/", "http://10.1.2.3/", "http://172.16.0.1/",
			"http://172.31.255.255/", "http://192.168.1.1/", "http://169.254.169.254/latest/meta-data/", "http://100.64.0.1/",
			"http://168.63.129.16/", "http://192.0.0.192/", "http://198.18.0.1/", "http://224.0.0.1/", "http://255.255.255.255/",
			"http://[::1]/", "http://[::]/", "http://[0:0:0:0:0:0:0:1]/", "http://[fe80::1]/", "http://[fd00:ec2::254]/", "http://[ff02::1]/",
			"http://[::ffff:127.0.0.1]/", "http://[::ffff:7f00:1]/", "http://[::127.0.0.1]/", "http://[::ffff:0:127.0.0.1]/",
			"http://[64:ff9b::127.0.0.1]/", "http://[64:ff9b::a00:1]/", "http://[64:ff9b:1::8.8.8.8]/",
			"http://[2002:7f00:1::1]/", "http://[2002:808:808::1]/", "http://[2001:0:808:808::f7f7:f7f7]/",
			"http://[2606:4700::5efe:127.0.0.1]/", "http://[2606:4700::200:5efe:192.168.0.1]/",
			"http://[2001:db8::1]/", "http://[3fff::1]/", "http://[4000::1]/", "http://[5f00::1]/", "http://[100::1]/",
			"http://localhost/", "http://LocalHost/", "http://localhost./", "http://a.localhost/", "http://a.b.LOCALHOST./",
			"http://localhost.localdomain/", "http://printer.local/", "http://metadata.google.internal/", "http://nas.home.arpa/",
			"http://intranet/", "http://db/", "http://ip6-localhost/",
		},
		saysPlainQuad: {
			"http://2130706433/", "http://0x7f000001/", "http://017700000001/", "http://127.1/", "http://127.0.1/", "http://0177.0.0.1/",
			"http://0x7f.0.0.1/", "http://127.0.0.0x1/", "http://127.0.0.01/", "http://127.0.0.1./", "http://127.0.0.1.1/", "http://0/", "http://0x/",
			"http://0X7F.1/", "http://127.0.0.256/", "http://8.8.8.010/", "http://1.1/", "http://a.1/", "http://localhost.1/",
			"http://00000000000000000177.0.0.1/", "http://0.0b0/", "http://127.0.0.1e0/", "http://0o177.0.0.0o1/",
		},
		saysPlainly: {
			"http://[fe80::1%25eth0]/", "http://[::1%25lo]/", "http://[2606:4700::1%25eth0]/",
			"http://%EF%BC%91%EF%BC%92%EF%BC%97.0.0.1/", "http://b%C3%BCcher.example.com/",
		},
		saysLookAlike: {
			"http://１２７.0.0.1/", "http://127．0．0．1/", "http://127。0。0。1/", "http://127｡0｡0｡1/", "http://①②⑦.0.0.1/",
			"http://ｌｏｃａｌｈｏｓｔ/", "http://ⓛⓞⓒⓐⓛⓗⓞⓢⓣ/", "http://𝓁ocalhost/", "http://локал.１２７/", "http://example。com/",
			"http://127.0.0.١/", "http://ﬁle.example.com/",
			"http://\u212aernel.org/",          // the Kelvin sign
			"http://local\u00adhost/",          // a soft hyphen
			"http://127.0.0.1\u200b/",          // a space of no width
			"http://exa\u2060mple.com/",        // a joiner of words
			"http://localho\u017ft/",           // a long s
			"http://127\u20240\u20240\u20241/", // dot leaders
		},
		saysBadName: {
			"http://a..b/", "http://.example.com/", "http://example.com../", "http://a,b.com/", "http://a*b.com/", "http://a=b.com/",
			"http://xn--localhost-.com/", "http://xn--127-.0.0.1/", "http://xn--a.com/", "http://" + strings.Repeat("a", 64) + ".com/",
			"http://" + strings.Repeat("a.", 127) + "com/", "http://$.com/", "http://a\xff.com/",
		},
		saysMalformed: {
			"http://exa mple.com/", "http://example.com\\@127.0.0.1/", "http://exam\tple.com/", "http://example.com/\x00", "http://a\nb.com/",
			"http://%6c%6f%63%61%6c%68%6f%73%74/", "http://%31%32%37.0.0.1/", "http://[::1/", "http://example.com:80a/", "://example.com", " http://example.com/",
			"http://example.com:-1/", "http://127.0.0.1\\.example.com/", "http://[::1%lo]/x",
			"http://[127.0.0.1]/", "http://[v1.a]/", "http://[1::2::3]/", "http://[localhost]/", "http://[]/",
		},
		saysScheme: {
			"", "example.com", "/etc/passwd", "//example.com/", "file:///etc/passwd", "ftp://example.com/", "gopher://127.0.0.1:25/_x", "data:text/plain,x",
			"javascript:alert(1)", "unix:///var/run/docker.sock", "ws://example.com/", "mailto:a@example.com", "jar:http://example.com/!/",
		},
		saysNoHost: {"http:", "http://", "http:///x", "http:example.com", "http:/example.com", "https://?x", "http://:80/"},
		saysUser: {
			"http://user:hunter2@example.com/", "http://user@example.com/", "http://@example.com/", "http://:hunter2@example.com/",
			"http://example.com@127.0.0.1/", "http://127.0.0.1:80@example.com/", "http://a%40b:hunter2@example.com/",
		},
		saysPort: {"http://example.com:0/", "http://example.com:00/", "http://example.com:65536/", "http://example.com:99999999999999999999/", "http://8.8.8.8:0/"},
	}
}

func TestCheck_RefusesEverythingElse(t *testing.T) {
	for reason, urls := range refusedURLs() {
		for _, raw := range urls {
			t.Run(reason+"/"+strconv.QuoteToASCII(raw), func(t *testing.T) {
				err := New(Options{}).Check(raw)
				if err == nil {
					t.Fatal("was permitted")
				}
				wantRefusal(t, err, reason)
			})
		}
	}
	t.Run("too long", func(t *testing.T) {
		wantRefusal(t, New(Options{}).Check("http://example.com/"+strings.Repeat("a", maxURLBytes)), "longer than 8192 bytes")
	})
}

func TestCheck_ZeroOptionsMakeNoException(t *testing.T) {
	if err := New(Options{}).Check("http://127.0.0.2/"); err == nil {
		t.Error("loopback is public without anybody having asked for it")
	}
	if err := newGuard(Options{}).Check("http://127.0.0.2:8080/file"); err != nil {
		t.Errorf("the exception does not count: %v", err)
	}
	wantRefusal(t, newGuard(Options{}).Check("http://127.0.0.1/"), saysNotPublic)
}

// lenientIPv4 reads numbers as inet_aton does: one to four parts, each decimal,
// octal or hexadecimal, the last filling what is left. Written for the fuzz test,
// independently of the guard's rules.
func lenientIPv4(host string) (netip.Addr, bool) {
	parts := strings.Split(strings.TrimSuffix(host, "."), ".")
	if len(parts) > 4 {
		return netip.Addr{}, false
	}
	var value uint64
	for i, part := range parts {
		n, err := strconv.ParseUint(part, 0, 64)
		if strings.Contains(part, "_") || err != nil {
			return netip.Addr{}, false
		}
		if i < len(parts)-1 {
			value |= n << (24 - 8*i)
		} else {
			value |= n
		}
	}
	return netip.AddrFrom4([4]byte{byte(value >> 24), byte(value >> 16), byte(value >> 8), byte(value)}), true
}

func FuzzCheck(f *testing.F) {
	for _, urls := range refusedURLs() {
		for _, raw := range urls {
			f.Add(raw)
		}
	}
	f.Add("https://bücher.example.com:8443/a?b#c")
	f.Add("http://8.8.8.8/")
	f.Add("http://[2606:4700::1]:80/")
	g := New(Options{Resolver: addrs("127.0.0.1")})
	f.Fuzz(func(t *testing.T, raw string) {
		fuzzbudget.Usual.Check(t, len(raw), func() {
			if g.Check(raw) != nil {
				return
			}
			u, err := url.Parse(raw)
			if err != nil {
				t.Fatalf("permitted what does not parse: %v", err)
			}
			if u.User != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Port() == "0" {
				t.Fatalf("permitted %q", raw)
			}
			checkPermittedHost(t, u.Hostname())
			checkDialRefuses(t, g, raw)
		})
	})
}

// checkPermittedHost reads a host as the most obliging resolver would.
func checkPermittedHost(t *testing.T, written string) {
	t.Helper()
	host := strings.ToLower(norm.NFKC.String(written))
	if addr, err := netip.ParseAddr(host); err == nil {
		if !plainlyPublic(addr) {
			t.Fatalf("permitted the address %q", written)
		}
		return
	}
	if addr, ok := lenientIPv4(host); ok {
		t.Fatalf("permitted %q, which some read as %s", written, addr)
	}
	name := strings.TrimSuffix(host, ".")
	if name == "localhost" || strings.HasSuffix(name, ".localhost") || !strings.Contains(name, ".") || strings.ContainsAny(name, "%\\@ ") {
		t.Fatalf("permitted %q", written)
	}
}

// checkDialRefuses follows a permitted URL to the dialer, for which every name is
// one of loopback: what is left to dial must be a public address.
func checkDialRefuses(t *testing.T, g *Guard, raw string) {
	t.Helper()
	u, err := g.parse(raw)
	if err != nil {
		t.Fatal(err)
	}
	found, err := g.resolve(context.Background(), u.Hostname())
	for _, addr := range found {
		if !plainlyPublic(addr) {
			t.Fatalf("%q would be dialled at %s", raw, addr)
		}
	}
	if _, literal := netip.ParseAddr(u.Hostname()); literal != nil && err == nil {
		t.Fatalf("%q was resolved to loopback and not refused", raw)
	}
}
