package outbound

import (
	"context"
	"crypto/x509"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/postern-id/postern/schemas"
)

// names answers DNS queries for addresses. Of several addresses for a name it returns the
// next one for each query.
type names struct {
	of    map[string][]string
	asked atomic.Int64
}

// resolver uses no other server.
func (n *names) resolver() *net.Resolver {
	return &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) {
		here, there := net.Pipe()
		go n.serve(there)
		return here, nil
	}}
}

// serve answers queries over a stream: RFC 1035 §4.2.2.
func (n *names) serve(c net.Conn) {
	defer c.Close()
	for {
		var size uint16
		if binary.Read(c, binary.BigEndian, &size) != nil {
			return
		}
		question := make([]byte, size)
		if _, err := io.ReadFull(c, question); err != nil {
			return
		}
		answer := n.answer(question)
		if binary.Write(c, binary.BigEndian, uint16(len(answer))) != nil {
			return
		}
		if _, err := c.Write(answer); err != nil {
			return
		}
	}
}

// answer implements RFC 1035 §4.1 as far as needed.
func (n *names) answer(message []byte) []byte {
	const header = 12
	var labels []string
	at := header
	for message[at] != 0 {
		size := int(message[at])
		labels = append(labels, string(message[at+1:at+1+size]))
		at += 1 + size
	}
	const typeA, typeAAAA, class = 1, 28, 1
	asked := binary.BigEndian.Uint16(message[at+1:])
	question := message[header : at+5]
	var data []byte
	if list := n.of[strings.ToLower(strings.Join(labels, "."))]; len(list) > 0 {
		addr := netip.MustParseAddr(list[int(n.asked.Load())%len(list)])
		if addr.Is4() && asked == typeA || addr.Is6() && asked == typeAAAA {
			n.asked.Add(1)
			data = addr.AsSlice()
		}
	}
	reply := append([]byte{message[0], message[1], 0x81, 0x80, 0, 1, 0, 0, 0, 0, 0, 0}, question...)
	if data != nil {
		reply[7] = 1
		reply = append(reply, 0xc0, header, 0, byte(asked), 0, class, 0, 0, 0, 0, 0, byte(len(data)))
		reply = append(reply, data...)
	}
	return reply
}

// hostile are URLs of an attacker who wants to reach what only the server can reach.
func hostile() []string {
	return []string{
		"http://client.test/", "http://127.0.0.1/", "http://localhost/", "http://[::1]/",
		"ftp://client.test/", "file:///etc/passwd", "gopher://127.0.0.1:6379/_", "https:127.0.0.1", "//127.0.0.1/", "https://", "https:///path",
		"https://127.0.0.1/", "https://127.0.0.1:8090/", "https://127.255.255.254/", "https://localhost/", "https://LOCALHOST/", "https://localhost./",
		"https://2130706433/", "https://0x7f000001/", "https://017700000001/", "https://0177.0.0.1/", "https://0x7f.0.0.1/", "https://127.1/", "https://127.0.1/", "https://0/", "https://0x/",
		"https://0.0.0.0/", "https://10.0.0.1/", "https://172.16.0.1/", "https://172.31.255.255/", "https://192.168.1.1/", "https://169.254.169.254/latest/meta-data/",
		"https://100.64.0.1/", "https://100.100.100.200/", "https://192.0.0.192/", "https://192.0.2.1/", "https://198.18.0.1/", "https://198.51.100.1/", "https://203.0.113.1/",
		"https://224.0.0.1/", "https://240.0.0.1/", "https://255.255.255.255/", "https://168.63.129.16/", "https://192.88.99.1/",
		"https://[::1]/", "https://[::]/", "https://[::ffff:127.0.0.1]/", "https://[::ffff:7f00:1]/", "https://[::127.0.0.1]/", "https://[::ffff:0:127.0.0.1]/",
		"https://[64:ff9b::127.0.0.1]/", "https://[64:ff9b::10.0.0.1]/", "https://[64:ff9b:1::1]/", "https://[2002:7f00:1::]/", "https://[2002:a00:1::]/", "https://[2001:0:7f00:1::]/",
		"https://[fc00::1]/", "https://[fd00:ec2::254]/", "https://[fe80::1]/", "https://[fe80::1%25lo]/", "https://[fec0::1]/", "https://[ff02::1]/", "https://[2001:db8::1]/", "https://[3fff::1]/",
		"https://[100::1]/", "https://[2606:4700::5efe:10.0.0.1]/", "https://[5f00::1]/",
		"https://client.test@127.0.0.1/", "https://127.0.0.1@client.test/", "https://user:secret@client.test/", "https://client.test%00.127.0.0.1/", "https://client.test\\@127.0.0.1/",
		"https://loopback.test/", "https://loopback6.test/", "https://private.test/", "https://metadata.test/", "https://mapped.test/", "https://nat64.test/", "https://nobody.test/",
		"https://loopback.test./", "https://loopback.test:8443/", "https://client.test:22/", "https://client.test:25/", "https://client.test:0/", "https://client.test:65536/", "https://client.test:/", "https://client.test:x/",
		"https://①②⑦.⓪.⓪.①/", "https://ⓛⓞⓒⓐⓛⓗⓞⓢⓣ/", "https://127。0。0。1/", "https://a..test/", "https://.test/", "https://client.test,127.0.0.1/", "https://[127.0.0.1]/", "https://[::1/",
		"https://" + strings.Repeat("a.", 127) + "test/",
	}
}

func hostileNames() *names {
	return &names{of: map[string][]string{
		"loopback.test": {"127.0.0.1"}, "loopback6.test": {"::1"}, "private.test": {"10.1.2.3"}, "metadata.test": {"169.254.169.254"},
		"mapped.test": {"::ffff:127.0.0.1"}, "nat64.test": {"64:ff9b::7f00:1"},
	}}
}

// No connection is made, and every error is safe to show.
func TestHostileURLs(t *testing.T) {
	c := build(Rules{}, hostileNames().resolver(), newPlaces(8))
	if len(hostile()) < 40 {
		t.Fatalf("only %d URLs", len(hostile()))
	}
	for _, text := range hostile() {
		reply, err := c.Get(t.Context(), text)
		reported := schemas.AsError(err)
		if err == nil || reported.Code != CodeRefused && reported.Code != CodeFailed {
			t.Errorf("%s: got %v and %v", text, reply, err)
		}
		if text := reported.Description.DefaultValue; strings.Contains(text, "10.1.2.3") || strings.Contains(text, "dial tcp") || strings.Contains(text, "secret") {
			t.Errorf("the error reveals too much: %s", text)
		}
	}
	// A request that would be made must be rejected, not fail on its way.
	for _, name := range []string{"loopback", "loopback6", "private", "metadata", "nat64", "mapped"} {
		if _, err := c.Get(t.Context(), "https://"+name+".test/"); !schemas.HasCode(err, CodeRefused) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

// Errors do not reveal which names exist inside: a name that leads inside and one that does
// not resolve get the same error.
func TestInternalNamesAreNotReported(t *testing.T) {
	c := build(Rules{}, hostileNames().resolver(), newPlaces(8))
	_, err := c.Get(t.Context(), "https://nobody.test/")
	want := schemas.AsError(err).Description.DefaultValue
	for name := range hostileNames().of {
		_, err := c.Get(t.Context(), "https://"+name+"/")
		if got := schemas.AsError(err); got.Description.DefaultValue != want || got.Err == nil {
			t.Errorf("%s: %q, expected %q, and more for the log", name, got.Description.DefaultValue, want)
		}
	}
}

// server is a server on this machine that counts requests.
type server struct {
	*httptest.Server
	came atomic.Int64
}

func serve(t *testing.T, secure bool, handle http.HandlerFunc) *server {
	t.Helper()
	s := &server{}
	start := httptest.NewServer
	if secure {
		start = httptest.NewTLSServer
	}
	s.Server = start(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.came.Add(1)
		handle(w, r)
	}))
	t.Cleanup(s.Close)
	return s
}

func (s *server) port() string { return s.URL[strings.LastIndexByte(s.URL, ':')+1:] }

func (s *server) roots() *x509.CertPool {
	pool := x509.NewCertPool()
	pool.AddCert(s.Certificate())
	return pool
}

func loopback() []netip.Prefix {
	return []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("::1/128")}
}

func hello(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "hello") }

func TestAllowed(t *testing.T) {
	secure, plain := serve(t, true, hello), serve(t, false, hello)
	resolved := &names{of: map[string][]string{"example.com": {"127.0.0.1"}, "other.test": {"127.0.0.1"}}}
	tests := []struct {
		rules Rules
		url   string
		want  string // "" for the reply
	}{
		{Rules{Hosts: []string{"example.com"}}, "https://example.com:" + secure.port(), ""},
		{Rules{Hosts: []string{"Example.COM"}}, "https://EXAMPLE.com:" + secure.port(), ""},
		{Rules{Networks: loopback()}, "https://example.com:" + secure.port(), ""},
		{Rules{Networks: loopback()}, "https://127.0.0.1:" + secure.port(), ""},
		{Rules{Networks: loopback()}, "http://127.0.0.1:" + plain.port(), ""},
		{Rules{Networks: loopback()}, "http://[::ffff:127.0.0.1]:" + plain.port(), ""},
		{Rules{Hosts: []string{"other.test"}}, "https://example.com:" + secure.port(), CodeRefused},
		{Rules{Hosts: []string{"example.com"}}, "http://example.com:" + plain.port(), CodeRefused}, // a name other than this machine's
		{Rules{Networks: loopback()}, "http://other.test:" + plain.port(), CodeRefused},
		{Rules{Hosts: []string{"example.com"}}, "https://127.0.0.1:" + secure.port(), CodeRefused},
		{Rules{Hosts: []string{"other.test"}}, "https://other.test:" + secure.port(), CodeFailed}, // the certificate has another name
		{Rules{}, "https://example.com:" + secure.port(), CodeRefused},
		{Rules{Networks: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}}, "https://example.com:" + secure.port(), CodeRefused},
	}
	for _, test := range tests {
		test.rules.RootCAs = secure.roots()
		before := secure.came.Load() + plain.came.Load()
		reply, err := build(test.rules, resolved.resolver(), newPlaces(8)).Get(t.Context(), test.url)
		came := secure.came.Load() + plain.came.Load() - before
		if test.want == "" && (err != nil || string(reply.Body) != "hello" || reply.Status != 200) {
			t.Errorf("%v %s: got %v and %v", test.rules, test.url, reply, err)
		}
		if test.want != "" && (!schemas.HasCode(err, test.want) || came != 0) {
			t.Errorf("%v %s: got %v and %v, and %d requests came", test.rules, test.url, reply, err, came)
		}
	}
}

// A name that is public when checked and private when used gains nothing: there is one
// lookup, and its result is checked.
func TestRebinding(t *testing.T) {
	secure := serve(t, true, hello)
	turns := &names{of: map[string][]string{"example.com": {"127.0.0.1", "127.0.0.2"}}}
	rules := Rules{Networks: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}, RootCAs: secure.roots()}
	c := build(rules, turns.resolver(), newPlaces(8))
	answered, refused := 0, 0
	for range 8 {
		reply, err := c.Get(t.Context(), "https://example.com:"+secure.port())
		switch {
		case err == nil && string(reply.Body) == "hello":
			answered++
		case schemas.HasCode(err, CodeRefused):
			refused++
		default:
			t.Errorf("got %v and %v", reply, err)
		}
	}
	if answered == 0 || refused == 0 || secure.came.Load() != int64(answered) {
		t.Errorf("%d were answered and %d refused; %d came", answered, refused, secure.came.Load())
	}
}

func TestRedirects(t *testing.T) {
	inside := serve(t, false, hello)
	var to string
	front := serve(t, false, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/end" {
			hello(w, r)
			return
		}
		http.Redirect(w, r, to, http.StatusFound)
	})
	front127 := []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}
	c := New(Rules{Networks: front127})
	for _, to = range []string{
		"/end", "/loop", "http://127.0.0.2:" + inside.port(), "http://localhost:" + inside.port(), "https://[::1]:" + inside.port(),
		"file:///etc/passwd", "https://user@example.com",
	} {
		if reply, err := c.Get(t.Context(), front.URL+"/begin"); err != nil || reply.Status != http.StatusFound {
			t.Errorf("%s: got %v and %v", to, reply, err)
		}
	}
	if reply, err := c.Get(t.Context(), front.URL+"/end"); err != nil || reply.Status != http.StatusOK {
		t.Errorf("without a redirect: got %v and %v", reply, err)
	}
	if inside.came.Load() != 0 {
		t.Errorf("a redirect led inside")
	}
}

func TestBounds(t *testing.T) {
	s := serve(t, false, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/hang":
			<-r.Context().Done()
		case "/trickle":
			fmt.Fprint(w, "a")
			_ = http.NewResponseController(w).Flush()
			<-r.Context().Done()
		case "/fields":
			w.Header().Set("X-Long", strings.Repeat("a", 2*maxHeader))
		default:
			fmt.Fprint(w, strings.Repeat("a", len(r.URL.Path)))
		}
	})
	c := New(Rules{Networks: loopback(), MaxBytes: 10, Timeout: 200 * time.Millisecond})
	for _, path := range []string{"/hang", "/trickle", "/fields", "/" + strings.Repeat("a", 10)} {
		if reply, err := c.Get(t.Context(), s.URL+path); !schemas.HasCode(err, CodeFailed) {
			t.Errorf("%s: got %v and %v", path, reply, err)
		}
	}
	more := c.With(func(r *Rules) { r.Timeout = time.Minute })
	if reply, err := more.Get(t.Context(), s.URL+"/"+strings.Repeat("a", 9)); err != nil || len(reply.Body) != 10 {
		t.Errorf("as much as is allowed: got %v and %v", reply, err)
	}
}

// No proxy is used, no cookie is returned, and the host is that of the URL.
func TestRequestsContainNothingElse(t *testing.T) {
	var got *http.Request
	s := serve(t, false, func(w http.ResponseWriter, r *http.Request) {
		got = r
		http.SetCookie(w, &http.Cookie{Name: "a", Value: "b"})
	})
	t.Setenv("HTTP_PROXY", "http://127.0.0.3:1")
	t.Setenv("HTTPS_PROXY", "http://127.0.0.3:1")
	c := New(Rules{Networks: loopback(), Timeout: time.Minute})
	for range 2 {
		req, _ := http.NewRequest(http.MethodPost, s.URL+"/to", strings.NewReader("body"))
		req.Host = "elsewhere.test"
		if _, err := c.Do(t.Context(), req); err != nil {
			t.Fatal(err)
		}
		if got.Host != strings.TrimPrefix(s.URL, "http://") || len(got.Cookies()) != 0 || got.Method != "POST" || got.UserAgent() != "Postern" {
			t.Errorf("got %+v", got)
		}
	}
}

// Requests above the limit are rejected at once, and can be tried again.
func TestConcurrentRequests(t *testing.T) {
	c := build(Rules{}, nil, newPlaces(16))
	for range 2 {
		if leave, _ := c.places.Acquire("busy.example.com"); leave == nil {
			t.Fatal("no place for two requests to one host")
		}
	}
	if _, err := c.Get(t.Context(), "https://busy.example.com/"); !schemas.HasCode(err, schemas.CodeOverloaded) || schemas.AsError(err).RetryAfter == 0 {
		t.Errorf("a third request to one host: got %v", err)
	}
}

func TestPublicAddresses(t *testing.T) {
	for _, text := range []string{"1.1.1.1", "8.8.8.8", "9.255.255.255", "11.0.0.1", "100.63.255.255", "100.128.0.1", "172.15.0.1", "172.32.0.1", "192.169.0.1", "223.255.255.255",
		"2606:4700:4700::1111", "2a00:1450::1", "64:ff9b::808:808", "2001:4860:4860::8888", "2606:4700::5efe:808:808"} {
		if rule := describeNonPublic(netip.MustParseAddr(text)); rule != "" {
			t.Errorf("%s is said to be %s", text, rule)
		}
	}
}

// FuzzAddress compares the check with the standard library's classification of addresses,
// in every spelling.
func FuzzAddress(f *testing.F) {
	for _, text := range hostile() {
		f.Add(text)
	}
	c := New(Rules{})
	f.Fuzz(func(t *testing.T, text string) {
		if u, err := url.Parse(text); err == nil && c.check(u) == nil {
			if u.Scheme != "https" || u.User != nil || strings.ContainsAny(u.Hostname(), "%\x00 @/\\") || strings.HasSuffix(u.Hostname(), ".") {
				t.Errorf("%q may be asked", text)
			}
		}
		addr, err := netip.ParseAddr(text)
		if err != nil || c.checkDial("client.test", netip.AddrPortFrom(addr, 443).String()) != nil {
			return
		}
		ip := net.IP(addr.Unmap().AsSlice())
		if !ip.IsGlobalUnicast() || ip.IsPrivate() || ip.IsLoopback() || ip.IsLinkLocalUnicast() || ip.IsMulticast() || ip.IsUnspecified() {
			t.Errorf("%q may be connected to", text)
		}
		mapped := netip.AddrFrom16(addr.As16())
		if c.checkDial("client.test", netip.AddrPortFrom(mapped, 443).String()) != nil {
			t.Errorf("%q may be connected to, but not when it is written as IPv6", text)
		}
	})
}
