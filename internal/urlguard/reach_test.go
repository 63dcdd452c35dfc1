package urlguard

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
)

func prefixes(list ...string) []netip.Prefix {
	var all []netip.Prefix
	for _, text := range list {
		all = append(all, netip.MustParsePrefix(text))
	}
	return all
}

func TestReach_NeverLeadsToLinkLocalOrMetadataAddresses(t *testing.T) {
	everywhere := NewReach(Everywhere(), nil)
	for _, text := range []string{
		"169.254.169.254", "169.254.0.1", "::ffff:169.254.169.254", "64:ff9b::169.254.169.254", "::169.254.169.254",
		"::ffff:0:169.254.169.254", "64:ff9b:1::169.254.169.254", "2002:a9fe:a9fe::1", "2001:db8::5efe:169.254.169.254",
		"fe80::1", "fd00:ec2::254", "fd20:ce::254", "168.63.129.16", "::ffff:168.63.129.16", "100.100.100.200", "192.0.0.192",
		"fd00:ec2::23", "fd00:c1::a9fe:a9fe", "fd00:42::42", "64:ff9b:1:a9fe:a9:fe00::",
		"0.0.0.0", "::", "::ffff:0.0.0.0", "224.0.0.1", "ff02::1",
	} {
		if everywhere.permits(netip.MustParseAddr(text)) {
			t.Errorf("%s is within reach", text)
		}
	}
	for _, text := range []string{"127.0.0.1", "::1", "10.1.2.3", "192.168.1.1", "172.17.0.2", "fd12:3456::1", "8.8.8.8", "2606:4700::1", "100.64.0.1"} {
		if !everywhere.permits(netip.MustParseAddr(text)) {
			t.Errorf("%s is out of reach", text)
		}
	}
	if everywhere.permits(netip.MustParseAddr("fd12::1%eth0")) || everywhere.permits(netip.Addr{}) {
		t.Error("a zone or nothing is within reach")
	}
}

func TestReach_LeadsToWhatWasNamedAlone(t *testing.T) {
	r := NewReach(prefixes("10.0.0.0/8", "fd12::/16"), nil)
	for text, want := range map[string]bool{
		"10.255.255.255": true, "::ffff:10.0.0.1": true, "fd12::1": true,
		"11.0.0.0": false, "9.255.255.255": false, "127.0.0.1": false, "192.168.0.1": false, "8.8.8.8": false, "fd13::1": false, "::1": false,
	} {
		if got := r.permits(netip.MustParseAddr(text)); got != want {
			t.Errorf("%s: %v", text, got)
		}
	}
	if NewReach(nil, nil).permits(netip.MustParseAddr("10.0.0.1")) {
		t.Error("nothing was named, and something is within reach")
	}
}

// names is a resolver that returns the addresses it was given last.
type names map[string][]string

func (n names) LookupNetIP(_ context.Context, _, name string) ([]netip.Addr, error) {
	list, ok := n[name]
	if !ok {
		return nil, &net.DNSError{Name: name, IsNotFound: true}
	}
	var addrs []netip.Addr
	for _, text := range list {
		addrs = append(addrs, netip.MustParseAddr(text))
	}
	return addrs, nil
}

func TestReach_JudgesEveryAddressOfAName(t *testing.T) {
	resolver := names{"n8n": {"10.0.0.5"}, "both": {"10.0.0.5", "192.168.0.1"}, "cloud": {"169.254.169.254"}}
	r := NewReach(prefixes("10.0.0.0/8"), resolver)
	for url, refused := range map[string]bool{
		"http://n8n:5678/x": false, "http://both/": true, "http://cloud/": true, "http://10.0.0.1/": false, "http://127.0.0.1/": true,
		"http://[fd12::1]/": true, "http://not-yet/": false, "http://2130706433/": false, // a name like any other: it is looked up
	} {
		if err := r.Check(t.Context(), url); (err != nil) != refused {
			t.Errorf("%s: %v", url, err)
		}
	}
}

// A name that is answered otherwise after it was checked is judged by what it
// is dialled with.
func TestReach_IsJudgedAtTheMomentOfConnecting(t *testing.T) {
	asked := 0
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked++ }))
	defer server.Close()
	_, port, _ := net.SplitHostPort(strings.TrimPrefix(server.URL, "http://"))
	resolver := names{"hook": {"127.0.0.1"}}
	r := NewReach(prefixes("127.0.0.1/32"), resolver)
	transport := r.Transport()
	defer transport.CloseIdleConnections()
	post := func() error {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://hook:"+port+"/", nil)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := transport.RoundTrip(req)
		if err == nil {
			resp.Body.Close()
		}
		return err
	}
	if err := post(); err != nil || asked != 1 {
		t.Fatalf("asked %d times, %v", asked, err)
	}
	transport.CloseIdleConnections()
	resolver["hook"] = []string{"127.0.0.2"}
	if err := post(); !isRefusal(err) || asked != 1 {
		t.Errorf("asked %d times, %v", asked, err)
	}
	if err := r.control("tcp", "127.0.0.2:80", nil); err == nil {
		t.Error("the dialer would connect")
	}
}
