package urlguard

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"os"
	"os/exec"
	"strings"
	"testing"
)

func TestCanary_NoticesAVisitor(t *testing.T) {
	c := newCanary(t, canaryIP)
	conn, err := net.Dial("tcp", c.addr())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if c.untouched() {
		t.Fatal("a canary that notices nothing proves nothing")
	}
}

// TestFetch_ConnectsToNothingPrivate tries every refused spelling against a
// canary on its port, with a resolver that takes every name for loopback.
func TestFetch_ConnectsToNothingPrivate(t *testing.T) {
	for _, ip := range []string{"127.0.0.1", "::1"} {
		t.Run(ip, func(t *testing.T) {
			c := newCanary(t, ip)
			g := New(Options{Resolver: addrs(ip)})
			for _, urls := range refusedURLs() {
				for _, raw := range urls {
					_, _, err := fetch(t, g, withPort(raw, c.port()), 1000)
					wantRefusal(t, err, "")
				}
			}
			_, _, err := fetch(t, g, "http://innocent.example.com:"+c.port()+"/", 1000)
			wantRefusal(t, err, saysNotPublic)
			c.mustBeUntouched()
		})
	}
}

// withPort adds a port to an http URL without one.
func withPort(raw, port string) string {
	rest, ok := strings.CutPrefix(raw, "http://")
	if !ok {
		return raw
	}
	host, path, found := strings.Cut(rest, "/")
	if !found || strings.Contains(host, "\\") || strings.Contains(strings.TrimLeft(host, "[:"), "]:") {
		return raw
	}
	return "http://" + host + ":" + port + "/" + path
}

func TestFetch_UsesAllOfANamesAddressesOrNone(t *testing.T) {
	served := serve(t, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "file") })
	allowed := newCanary(t, allowedIP)
	private := newCanary(t, canaryIP)
	ns := newNameServer(t)
	ns.set("good.example.com", addrs(allowedIP))
	g := newGuard(Options{Resolver: ns.resolver()})

	if _, body, err := fetch(t, g, "http://good.example.com:"+portOf(t, served)+"/", 1000); err != nil || string(body) != "file" {
		t.Fatalf("got %q, %v", body, err)
	}
	for name, answer := range map[string]careless{
		"private-last":   addrs(allowedIP, canaryIP),
		"private-first":  addrs(canaryIP, allowedIP),
		"private-v6":     addrs(allowedIP, "::1"),
		"mapped":         addrs(allowedIP, "::ffff:127.0.0.1"),
		"translated":     addrs(allowedIP, "64:ff9b::7f00:1"),
		"one-of-many":    addrs(allowedIP, allowedIP, allowedIP, "10.0.0.1", allowedIP),
		"only-private":   addrs(canaryIP),
		"nobody":         addrs("0.0.0.0"),
		"public-private": addrs("93.184.215.14", canaryIP),
		"v6-private":     addrs("2606:4700::1", canaryIP),
	} {
		t.Run(name, func(t *testing.T) {
			host := name + ".example.com"
			ns.set(host, answer)
			for _, c := range []*canary{allowed, private} {
				_, _, err := fetch(t, g, "http://"+host+":"+c.port()+"/", 1000)
				wantRefusal(t, err, saysNotPublic)
				c.mustBeUntouched()
			}
		})
	}
}

func TestFetch_ResolvesOncePerDial(t *testing.T) {
	served := serve(t, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "file") })
	ns := newNameServer(t)
	ns.set("rebind.example.com", addrs(allowedIP), addrs(canaryIP))
	g := newGuard(Options{Resolver: ns.resolver()})

	_, body, err := fetch(t, g, "http://rebind.example.com:"+portOf(t, served)+"/", 1000)
	if err != nil || string(body) != "file" {
		t.Fatalf("got %q, %v", body, err)
	}
	if n := ns.lookUps("rebind.example.com"); n != 1 {
		t.Errorf("the name was looked up %d times, want 1: a second answer may differ", n)
	}
}

// TestFetch_RebindingBetweenFetchAndRedirect lets a name be public when it is
// checked and fetched, and private from then on.
func TestFetch_RebindingBetweenFetchAndRedirect(t *testing.T) {
	c := newCanary(t, canaryIP)
	served := serve(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "http://rebind.example.com:"+c.port()+"/secret", http.StatusFound)
	})
	ns := newNameServer(t)
	ns.set("rebind.example.com", addrs(allowedIP), addrs(canaryIP))
	g := newGuard(Options{Resolver: ns.resolver()})
	first := "http://rebind.example.com:" + portOf(t, served) + "/"

	if err := g.Check(first); err != nil {
		t.Fatal(err)
	}
	_, _, err := fetch(t, g, first, 1000)
	wantRefusal(t, err, saysNotPublic)
	_, _, err = fetch(t, g, first, 1000)
	wantRefusal(t, err, saysNotPublic)
	c.mustBeUntouched()
}

// TestFetch_RebindingOnTheSameServer redirects to the very host and port it came
// from: a kept connection would hide that the name has moved.
func TestFetch_RebindingOnTheSameServer(t *testing.T) {
	requests := make(chan string, 10)
	served := serve(t, func(w http.ResponseWriter, r *http.Request) {
		requests <- r.URL.Path
		http.Redirect(w, r, "/next", http.StatusFound)
	})
	ns := newNameServer(t)
	ns.set("rebind.example.com", addrs(allowedIP), addrs(canaryIP))
	g := newGuard(Options{Resolver: ns.resolver()})

	_, _, err := fetch(t, g, "http://rebind.example.com:"+portOf(t, served)+"/first", 1000)
	wantRefusal(t, err, saysNotPublic)
	if len(requests) != 1 {
		t.Errorf("%d requests were made, want 1", len(requests))
	}
}

func TestFetch_RedirectsReachNothingPrivate(t *testing.T) {
	c := newCanary(t, canaryIP)
	c6 := newCanary(t, "::1")
	ns := newNameServer(t)
	ns.set("private.example.com", addrs(canaryIP))
	ns.set("localhost", addrs(canaryIP))
	g := newGuard(Options{Resolver: ns.resolver()})
	locations := map[string]string{
		"http://127.0.0.1:" + c.port() + "/":                saysNotPublic,
		"//127.0.0.1:" + c.port() + "/":                     saysNotPublic,
		"http://private.example.com:" + c.port() + "/":      saysNotPublic,
		"http://localhost:" + c.port() + "/":                saysNotPublic,
		"http://[::1]:" + c6.port() + "/":                   saysNotPublic,
		"http://[::ffff:127.0.0.1]:" + c.port() + "/":       saysNotPublic,
		"http://2130706433:" + c.port() + "/":               saysPlainQuad,
		"//0x7f.1:" + c.port() + "/":                        saysPlainQuad,
		"http://１２７.0.0.1:" + c.port() + "/":                saysLookAlike,
		"http://%EF%BC%9127.0.0.1:" + c.port() + "/":        saysPlainly,
		"//[fe80::1%25lo]:" + c6.port() + "/":               saysPlainly,
		"http://u:hunter2@127.0.0.1:" + c.port() + "/":      saysUser,
		"http://" + allowedIP + ":0/":                       saysPort,
		"file:///etc/passwd":                                saysScheme,
		"ftp://127.0.0.1:" + c.port() + "/":                 saysScheme,
		"gopher://127.0.0.1:" + c.port() + "/":              saysScheme,
		"data:text/plain,hunter2":                           saysScheme,
		"http://exa mple.com/":                              "redirects to a URL that is malformed",
		"http:///nowhere":                                   saysNoHost,
		"/" + strings.Repeat("hunter2", maxURLBytes/6):      "longer than 8192 bytes",
		"http://a.localhost:" + c.port() + "/?key=hunter2":  saysNotPublic,
		"http://example.com\\@127.0.0.1:" + c.port() + "/":  "malformed",
		"http://\xff.example.com:" + c.port() + "/":         saysBadName,
		"http://" + strings.Repeat("a", 64) + ".com:80/":    saysBadName,
		"http://printer.local:" + c.port() + "/":            saysNotPublic,
		"http://[64:ff9b::127.0.0.1]:" + c.port() + "/":     saysNotPublic,
		"http://169.254.169.254/latest/meta-data/":          saysNotPublic,
		"https://private.example.com:" + c.port() + "/":     saysNotPublic,
		"http://private.example.com.:" + c.port() + "/":     saysNotPublic,
		"HTTP://PRIVATE.example.com:" + c.port() + "/#frag": saysNotPublic,
	}
	for location, reason := range locations {
		for _, status := range []int{301, 302, 303, 307, 308} {
			served := serve(t, func(w http.ResponseWriter, _ *http.Request) {
				w.Header()["Location"] = []string{location}
				w.WriteHeader(status)
			})
			_, _, err := fetch(t, g, served, 1000)
			wantRefusal(t, err, reason)
		}
	}
	c.mustBeUntouched()
	c6.mustBeUntouched()
}

// TestControl_IsTheLastLine takes both earlier checks away.
func TestControl_IsTheLastLine(t *testing.T) {
	for _, ip := range []string{canaryIP, "::1"} {
		c := newCanary(t, ip)
		target := netip.MustParseAddrPort(c.addr())
		_, err := newGuard(Options{}).connect(t.Context(), []netip.Addr{target.Addr()}, target.Port())
		wantRefusal(t, transportError(err), saysNotPublic)
		c.mustBeUntouched()
	}
	for _, network := range []string{"udp4", "tcp", "unix"} {
		if err := New(Options{}).control(network, "8.8.8.8:80", nil); err == nil {
			t.Errorf("a %s connection is permitted", network)
		}
	}
	if err := New(Options{}).control("tcp4", "8.8.8.8:0", nil); err == nil {
		t.Error("port 0 is permitted")
	}
}

// TestDial_TrustsNoEarlierCheck hands the dialer what the transport could make of
// a URL behind our back.
func TestDial_TrustsNoEarlierCheck(t *testing.T) {
	c := newCanary(t, canaryIP)
	g := New(Options{Resolver: addrs(canaryIP)})
	for _, host := range []string{"127.0.0.1", "localhost", "127.1", "[::ffff:127.0.0.1]", "a.example.com", "１２７.0.0.1", "[fe80::1%lo]", "[::1]"} {
		_, err := g.dial(t.Context(), host+":"+c.port())
		wantRefusal(t, err, "")
	}
	for _, hostport := range []string{"", "8.8.8.8", "8.8.8.8:0", "8.8.8.8:", "8.8.8.8:http", "8.8.8.8:99999"} {
		_, err := g.dial(t.Context(), hostport)
		wantRefusal(t, err, "")
	}
	c.mustBeUntouched()
}

func TestFetch_TriesTheNextAddress(t *testing.T) {
	served := serve(t, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "file") })
	g := New(Options{
		Resolver:      addrs("127.0.0.3", "::ffff:"+allowedIP),
		AllowPrefixes: []netip.Prefix{netip.MustParsePrefix("127.0.0.2/31")},
	})
	_, body, err := fetch(t, g, "http://two.example.com:"+portOf(t, served)+"/", 1000)
	if err != nil || string(body) != "file" {
		t.Fatalf("got %q, %v", body, err)
	}
}

func TestFetch_SaysWhatIsWrongWithAName(t *testing.T) {
	ns := newNameServer(t)
	ns.set("empty.example.com", careless{})
	g := newGuard(Options{Resolver: ns.resolver()})
	_, _, err := fetch(t, g, "http://missing.example.com/?key=hunter2", 1000)
	wantRefusal(t, err, "the host does not exist")
	_, _, err = fetch(t, g, "http://empty.example.com/", 1000)
	wantRefusal(t, err, "the host does not exist")

	_, _, err = fetch(t, newGuard(Options{Resolver: careless{}}), "http://empty.example.com/", 1000)
	wantRefusal(t, err, "the host has no address")
	_, _, err = fetch(t, newGuard(Options{Resolver: failing{}}), "http://a.example.com/", 1000)
	wantRefusal(t, err, "the host's name could not be looked up")

	gone := listen(t, allowedIP)
	gone.Close()
	_, _, err = fetch(t, g, "http://"+gone.Addr().String()+"/", 1000)
	wantRefusal(t, err, "the server could not be reached")
}

type failing struct{}

func (failing) LookupNetIP(context.Context, string, string) ([]netip.Addr, error) {
	return nil, &net.DNSError{Err: "server misbehaving", Name: "a.example.com", Server: "10.0.0.53:53", IsTemporary: true}
}

func TestFetch_LooksNamesUpAsAbsolute(t *testing.T) {
	var asked string
	g := newGuard(Options{Resolver: resolverFunc(func(name string) { asked = name })})
	_, _, err := fetch(t, g, "http://Files.Example.COM/", 1000)
	wantRefusal(t, err, "no address")
	if asked != "files.example.com." {
		t.Errorf("asked for %q", asked)
	}
}

type resolverFunc func(name string)

func (f resolverFunc) LookupNetIP(_ context.Context, _, name string) ([]netip.Addr, error) {
	f(name)
	return nil, nil
}

// TestFetch_IgnoresProxies runs itself in a separate process: net/http reads
// the environment once.
func TestFetch_IgnoresProxies(t *testing.T) {
	if served := os.Getenv("URLGUARD_TEST_SERVED"); served != "" {
		_, body, err := fetch(t, newGuard(Options{Resolver: addrs(allowedIP)}), served, 1000)
		if err != nil || string(body) != "file" {
			t.Fatalf("got %q, %v", body, err)
		}
		return
	}
	proxy := newCanary(t, canaryIP)
	served := serve(t, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "file") })
	cmd := exec.Command(os.Args[0], "-test.run=^TestFetch_IgnoresProxies$")
	cmd.Env = append(os.Environ(), "URLGUARD_TEST_SERVED=http://files.example.com:"+portOf(t, served)+"/")
	for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"} {
		cmd.Env = append(cmd.Env, name+"=http://"+proxy.addr())
	}
	cmd.Env = append(cmd.Env, "NO_PROXY=", "no_proxy=")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	proxy.mustBeUntouched()
}
